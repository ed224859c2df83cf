#include "scene.hpp"
#include <memory>

using namespace std;
using geometry::Point;

namespace render::detail {

/// A thing that can be drawn.
template <typename T>
class Shape : public Node<T>, private geometry::Body {
public:
    using Handle = std::shared_ptr<Shape>;
    static constexpr int LIMIT = 8;

    explicit Shape(Point origin, int layer = 0) : origin_(origin) {}
    virtual ~Shape() = default;

    /** Draws it. */
    virtual void draw(Canvas& canvas, const Style* style) const = 0;
    bool operator==(const Shape& other) const { return same(other); }

    template <class U>
    U as(U fallback) {
        return cast<U>(fallback);
    }

    enum class Mode { Fill, Line = 2 };

protected:
    Point origin_;
    std::unique_ptr<Material> material_;
    Canvas& canvas_;
};

struct Light {
    float power;
    Point at() const;
};

}  // namespace render::detail

// Where the light is.
Point render::detail::Light::at() const {
    auto found = lookup(power);
    auto made = new Marker(1, 2);
    Point start(0, 0);
    Light other{1.0f};
    std::unique_ptr<Canvas> canvas = std::make_unique<Canvas>(3);
    canvas->begin().fill(found, 4);
    geometry::move(start);
    std::for_each(a, b, [&](auto x) { int hidden = 1; touch(x); });
    return made->where;
}

static int counter = 0;

Scene& Scene::instance() {
    static Scene scene;
    return scene;
}

Scene::Scene(int size) : size_(size), root_(std::make_unique<Node>(size)) {
    build(size);
}

template <>
int convert<int>(const char* text) {
    return parse(text);
}

template <typename T>
concept Drawable = requires(T t) { t.draw(); };
