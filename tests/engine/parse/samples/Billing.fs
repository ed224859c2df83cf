namespace Shop.Billing

open System
open System.Collections.Generic
open Shop.Common.Money

/// How an invoice is paid.
type Payment =
    | Card of number: string
    | Transfer of Iban
    | Cash

/// One line of an invoice.
type Line =
    { Product: string
      Amount: decimal }

    /// What the line costs.
    member this.Total = Rates.gross this.Amount

type CustomerId = string

type Status =
    | Open = 0
    | Paid = 1

/// Stores invoices.
type IInvoiceStore =
    abstract member Find: id: string -> Invoice option
    abstract Save: Invoice -> unit

[<AllowNullLiteral>]
type Invoice(number: string, lines: Line list) =
    inherit Document(number)

    let mutable state = Status.Open
    static let counter = ref 0

    new(number) = Invoice(number, [])

    /// The sum of all lines.
    member this.Sum = lines |> List.sumBy (fun line -> line.Total)

    member this.Pay(payment: Payment, ?note: string) =
        state <- Status.Paid
        Ledger.post (number, payment)
        this.Notify()

    member private this.Notify() = printfn "%s" number

    static member Create(number: string) = Invoice(number)

    override this.ToString() = number

    interface IDisposable with
        member this.Dispose() = Ledger.close number

/// Reading and writing of invoices.
module Invoices =
    /// The most lines of one invoice.
    [<Literal>]
    let MaxLines = 100

    let private cache = Dictionary<string, Invoice>()

    /// Finds an invoice or fails.
    let find (store: IInvoiceStore) number =
        match store.Find number with
        | Some invoice -> invoice
        | None -> failwithf "no invoice %s" number

    let rec total lines =
        match lines with
        | [] -> 0m
        | line :: rest -> Rates.gross line.Amount + total rest

    let inline (|>>) x f = f x

    // Sends everything that is due.
    let sendAll (store: IInvoiceStore) (numbers: string list) =
        async {
            for number in numbers do
                let invoice = find store number
                do! Mail.send invoice
                store.Save invoice
        }

    module Format =
        let short (invoice: Invoice) = invoice.ToString().Substring(0, 8)

exception InvoiceMissing of string

type Line with
    member this.IsFree = this.Amount = 0m
