#load "Billing.fs"
#r "nuget: FSharp.Data"
module Tools.Script

open Shop.Billing

let limit = 5
let greet name = printfn "hello %s" name

greet "world"
