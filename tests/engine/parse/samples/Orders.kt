@file:JvmName("OrdersKt")

package com.example.shop.orders

import com.example.shop.catalog.Product
import com.example.shop.payment.Gateway as PaymentGateway
import kotlinx.coroutines.flow.*

/** The most lines one order may hold. */
const val MAX_LINES = 100
val defaultCurrency: String = "EUR"

typealias OrderId = String
typealias Handler<T> = suspend (T) -> Unit

/** What can happen to an order. */
sealed interface OrderEvent {
    data class Placed(val id: OrderId, val total: Money) : OrderEvent
    data object Cancelled : OrderEvent
}

enum class Status(val label: String) : HasLabel {
    OPEN("open") {
        override fun next() = PAID
    },
    PAID("paid");

    open fun next(): Status = this
}

/** Stores orders somewhere. */
fun interface Repository<T : Any> {
    suspend fun find(id: OrderId): T?
}

annotation class Audited(val why: String = "")

/**
 * Takes orders and has them paid.
 *
 * @property repository where orders live
 */
@Singleton
class OrderService @Inject constructor(
    private val repository: Repository<Order>,
    private val gateway: PaymentGateway,
    clock: Clock = Clock.System,
) : BaseService(clock), OrderApi by DefaultOrderApi(), Closeable {

    private val listeners = mutableListOf<Handler<OrderEvent>>()
    lateinit var audit: AuditLog
    val size: Int
        get() = listeners.count()

    init {
        register(this)
    }

    constructor(repository: Repository<Order>) : this(repository, PaymentGateway.default())

    /** Places an order and charges for it. */
    @Audited("money")
    @Throws(PaymentException::class)
    suspend fun place(order: Order, vararg coupons: Coupon, notify: Boolean = true): Receipt {
        require(order.lines.size <= MAX_LINES) { "too many lines" }
        val total = order.lines.sumOf { line -> line.price(coupons.toList()) }
        val receipt: Receipt = gateway.charge(order.customer, total)
        if (notify) publish(OrderEvent.Placed(order.id, total))
        return receipt.also { audit.write(it) }
    }

    private fun publish(event: OrderEvent) = listeners.forEach { handler -> handler(event) }

    override fun close() {
        super.close()
        listeners.clear()
    }

    inner class Cursor<T>(val items: List<T>) {
        operator fun next(): T = items.first()
    }

    companion object {
        const val RETRIES = 3

        /** Makes a service for tests. */
        @JvmStatic
        fun forTests(): OrderService = OrderService(InMemoryRepository())
    }

    companion object Factory : ServiceFactory {
        fun create() = forTests()
    }
}

/** Registry of everything that runs. */
object Registry : ServiceRegistry() {
    @JvmField val started = mutableSetOf<Any>()
    fun register(service: Any) { started.add(service) }
}

// Shortens an identifier for people.
fun OrderId.short(length: Int = 8): String = take(length)

inline fun <reified T : Product> List<Product>.only(): List<T> = filterIsInstance<T>()

val Order.isEmpty: Boolean
    get() = lines.isEmpty()

fun main() {
    val service = OrderService.forTests()
    println(service.size)
}
