Imports System.Collections.Generic
Imports Json = Newtonsoft.Json

Namespace Shop.Accounts

    ''' <summary>
    ''' Books postings.
    ''' </summary>
    Public Interface IBook
        Sub Post(amount As Decimal)
        Function Balance() As Decimal
    End Interface

    Public Enum Side
        Debit
        Credit
    End Enum

    <Serializable>
    Public Class Ledger
        Inherits BookBase
        Implements IBook

        Public Const MaxPostings As Integer = 500
        Private ReadOnly _postings As New List(Of Posting)

        Public Sub New(owner As String, Optional limit As Integer = 10)
            MyBase.New(owner)
        End Sub

        ''' <summary>Books one amount.</summary>
        Public Sub Post(amount As Decimal) Implements IBook.Post
            _postings.Add(New Posting(amount))
        End Sub

        Public Function Balance() As Decimal Implements IBook.Balance
            If _postings.Count = 0 Then Return 0
            Return _postings.Sum(Function(p) p.Amount)
        End Function

        Public Property Name As String

        Public ReadOnly Property Size As Integer
            Get
                Return _postings.Count
            End Get
        End Property

        Private Structure Window
            Public From As Date
        End Structure
    End Class

    Module Helpers
        ' Formats an amount.
        Function Format(amount As Decimal) As String
            Return amount.ToString("0.00") ' End Function in a comment
        End Function
    End Module
End Namespace
