import Axios, { type AxiosInstance, AxiosError as HttpError } from "axios";
import * as path from "node:path";
import type { Order } from "./model";
import fs = require("fs");
import "./polyfill";
export * from "./model";
export * as money from "./money";
export { Cart as Basket, checkout } from "./cart";

/** How long to wait. */
export const TIMEOUT = 5_000;
let attempts = 0;

/**
 * Where orders are kept.
 * @public
 */
export interface OrderStore extends Store<Order>, Closeable {
  readonly name: string;
  find(id: string, deep?: boolean): Promise<Order | null>;
  save: (order: Order) => void;
}

export type OrderId = string | Brand<"order">;

export enum State {
  Open,
  Paid = "paid",
}

export function total(order: Order): number;
export function total(order: Order, tax: number): number;
export function total(order: Order, tax = 0): number {
  return order.lines.reduce((sum, line) => sum + line.price(), 0) * (1 + tax);
}

// Retries a call.
export const retry = async <T>(call: () => Promise<T>, times = 3, ...rest: string[]): Promise<T> => {
  const inner = (n: number) => call();
  for (const it of rest) attempts++;
  return inner(times);
};

@Injectable({ providedIn: "root" })
export class OrderService extends BaseService<Order> implements OnInit, api.Client {
  static readonly PAGE = 20;
  private http = inject(HttpClient);
  private cache = new Map<string, Order>();
  @Input() customer!: Customer;
  #secret?: Secret;

  constructor(
    private readonly store: OrderStore,
    @Inject(LOGGER) logger: Logger,
    private clock: time.Clock = new SystemClock(),
  ) {
    super();
    this.log = logger;
    this.queue = createQueue(store);
  }

  get size(): number {
    return this.cache.size;
  }

  onChange = (event: ChangeEvent): void => this.store.save(event.order);

  @HostListener("window:resize", ["$event"])
  async load(id: OrderId, options?: LoadOptions): Promise<Order> {
    const found = await this.store.find(id, ...options.flags);
    const order = found as Order;
    if (order instanceof HttpError) throw new NotFound(id);
    this.http?.get<Order>(`/orders/${id}`)!.pipe(map((o) => o.id));
    const { lines } = order;
    return money.round(order)!;
  }

  protected abstract check(order: Order): asserts order is Paid;
}

export const handlers = {
  open(order: Order) {
    return start(order);
  },
  close: async (order: Order, reason: string) => stop(order),
  "on-error": function (error: Error) {},
};

namespace Legacy.Api {
  export function call(name: string): void {}
}

declare module "express" {
  interface Request {
    user?: User;
  }
}

export default class extends OrderService {}
