package com.example.inventory

import scala.collection.mutable
import scala.concurrent.{ExecutionContext, Future => Async}
import com.example.common._
import java.util.{List => _, *}

/** How many items fit on a shelf. */
sealed trait Capacity extends Product with Serializable

object Capacity {
  case object Unlimited extends Capacity
  /** At most so many. */
  final case class Limited(items: Int) extends Capacity

  val Default: Capacity = Limited(10)

  def parse(text: String): Either[ParseError, Capacity] = text match {
    case "unlimited" => Right(Unlimited)
    case other       => Numbers.toInt(other).map(Limited(_))
  }
}

/** Stores things by their key. */
trait Store[K, V] {
  type Key = K
  def get(key: K): Option[V]
  // Puts a value under its key.
  def put(key: K, value: V)(implicit ec: ExecutionContext): Async[Unit]
  def size: Int = 0
}

/**
 * The shelf of a warehouse.
 *
 * @param label what is written on it
 */
@Singleton
class Shelf @Inject() (val label: String, capacity: Capacity = Capacity.Default)(implicit clock: Clock)
    extends BaseStore[String, Item](label)
    with Store[String, Item]
    with Logging {

  private val items = mutable.Map.empty[String, Item]
  var opened: Boolean = false
  lazy val index: SearchIndex = SearchIndex.build(items.values)

  def this(label: String) = this(label, Capacity.Unlimited)

  override def get(key: String): Option[Item] = items.get(key)

  /** Adds one item. */
  @throws[CapacityError]("when it is full")
  def put(key: String, value: Item)(implicit ec: ExecutionContext): Async[Unit] = {
    val limit: Int = limitOf(capacity)
    if (items.size >= limit) throw new CapacityError(label, limit)
    def log(what: String): Unit = logger.info(what)
    log(s"put ${value.name}")
    Async { items.update(key, value) }
  }

  private def limitOf(c: Capacity): Int = c match {
    case Capacity.Limited(n) => n
    case _                   => Int.MaxValue
  }

  def +=(item: Item): this.type = { put(item.name, item); this }

  class Cursor[A <: Item](start: Int) extends Iterator[A] {
    def hasNext: Boolean = false
    def next(): A = items.values.drop(start).head.asInstanceOf[A]
  }
}

/** Makes shelves. */
object Shelf extends ShelfFactory {
  val MaxLabel = 40
  def apply(label: String, items: Item*): Shelf = {
    val shelf = new Shelf(label)
    items.foreach(item => shelf += item)
    shelf
  }
}

case class Item(name: String, price: BigDecimal = 0)

abstract class Report(val title: String) {
  def render: String
}

package object syntax {
  type Labels = Map[String, Int]
  implicit class ItemOps(private val item: Item) extends AnyVal {
    def cheap: Boolean = item.price < 10
  }
}
