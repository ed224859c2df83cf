package shapes

import geometry.units.{given, *}
import geometry.Point as P

/** A colour by name. */
enum Color(val rgb: Int) extends Named:
  case Red extends Color(0xff0000)
  case Green, Blue

  def hex: String = Formatter.hex(rgb)

trait Shape derives CanEqual:
  def area: Double
  extension (other: Shape)
    def larger: Boolean = other.area > area

/** An angle in radians. */
opaque type Angle = Double

given ordering: Ordering[Shape] with
  def compare(a: Shape, b: Shape): Int = a.area.compare(b.area)

final class Circle(radius: Double) extends Shape, Drawable:
  /** The area inside. */
  override def area: Double = math.Pi * square(radius)

extension (shape: Shape)
  def describe(prefix: String = ""): String = prefix + shape.area

def square(x: Double): Double = x * x

@main def run(args: String*): Unit =
  val circle = Circle(2.0)
  println(circle.describe())
