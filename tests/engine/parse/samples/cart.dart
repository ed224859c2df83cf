library shop.cart;

import 'dart:async';
import 'package:flutter/material.dart' as material show Widget, State;
import '../models/product.dart';
export 'src/cart_view.dart' hide CartRow;
part 'cart.g.dart';

/// How many products fit.
const int maxProducts = 50;
final defaultCurrency = Currency('EUR');

/// Called when the cart changes.
typedef CartListener = void Function(Cart cart);

/// Where an order stands.
enum OrderState implements Comparable<OrderState> {
  open('Open'),
  paid('Paid');

  const OrderState(this.label);
  final String label;

  @override
  int compareTo(OrderState other) => index - other.index;
}

/// Tells listeners about changes.
mixin Notifies on Object {
  final List<CartListener> _listeners = [];
  void notify(Cart cart) {
    for (final listener in _listeners) {
      listener(cart);
    }
  }
}

abstract interface class PriceSource {
  Future<Money> priceOf(Product product);
}

/// A cart with its lines.
///
/// Not thread safe.
@immutable
class Cart<T extends Product> extends BaseModel with Notifies, Logging implements Disposable {
  static const String tag = 'cart';
  final PriceSource prices;
  final Repository _repository;
  late final Timer timer;

  /// Makes a cart.
  Cart(this.prices, this._repository, {Clock? clock, required String id}) : super(id) {
    timer = Timer.periodic(const Duration(seconds: 1), _tick);
  }

  Cart.empty() : this(NoPrices(), MemoryRepository(), id: 'none');

  factory Cart.fromJson(Map<String, dynamic> json) => _cartFromJson(json);

  /// Adds a product.
  @protected
  Future<void> add(T product, [int quantity = 1]) async {
    final Money price = await prices.priceOf(product);
    final line = CartLine(product, price);
    _repository.save(line);
    logger?.info('added ${product.name}');
    notify(this);
  }

  // Counts the lines.
  int get length => _repository.count();

  set currency(Currency value) => _repository.convert(value);

  static Cart of(BuildContext context) {
    return context.dependOnInherited<CartScope>()!.cart;
  }

  void _tick(Timer timer) => notify(this);

  bool operator ==(Object other) => other is Cart && identical(other, this);

  @override
  void dispose() {
    super.dispose();
    _listeners..clear()..add(print);
  }
}

extension CartTotals on Cart {
  Money total() => lines.fold(Money.zero, (sum, line) => sum + line.price);
}

class CartScope = InheritedModel with Notifies;

/// Shows a cart.
class CartView extends StatefulWidget {
  const CartView({super.key, required this.cart});
  final Cart cart;

  @override
  State<CartView> createState() => _CartViewState();
}

Cart _cartFromJson(Map<String, dynamic> json) {
  var cart = Cart.empty();
  cart.add(Product.fromJson(json['product']), 2);
  return cart;
}

void main() async {
  runApp(CartView(cart: Cart.empty()));
}
