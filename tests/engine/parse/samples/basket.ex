defmodule Shop.Basket do
  @moduledoc """
  A basket and what lies in it.
  """

  use GenServer
  use Shop.Web, :controller
  import Ecto.Query, only: [from: 2]
  alias Shop.Catalog.Product
  alias Shop.{Coupon, Pricing}
  alias Shop.Payment.Gateway, as: Payments
  require Logger

  @behaviour Shop.Priced
  @timeout 5_000

  @type t :: %__MODULE__{id: String.t(), lines: [line()]}
  @typep line :: {Product.t(), pos_integer()}
  @callback price(t()) :: Decimal.t()

  defstruct [:id, lines: [], coupon: nil]

  defmodule EmptyError do
    @moduledoc "Raised for a basket without lines."
    defexception message: "nothing in the basket"
  end

  defguard is_quantity(n) when is_integer(n) and n > 0

  @doc """
  Opens a basket.

  Gives the process.
  """
  @spec start_link(keyword()) :: GenServer.on_start()
  def start_link(opts \\ []) do
    GenServer.start_link(__MODULE__, opts, name: via(opts[:id]))
  end

  @doc "Puts products into the basket."
  def add(basket, product, quantity \\ 1)

  def add(%__MODULE__{} = basket, %Product{} = product, quantity) when is_quantity(quantity) do
    basket
    |> put_line(product, quantity)
    |> Pricing.refresh()
  end

  def add(_basket, _product, _quantity), do: {:error, :quantity}

  @impl true
  def init(opts) do
    Logger.info("basket #{opts[:id]}")
    {:ok, %__MODULE__{id: opts[:id]}}
  end

  @impl GenServer
  def handle_call({:checkout, card}, _from, state) do
    total = total(state)
    reply = Payments.charge(card, total)
    {:reply, reply, state, @timeout}
  end

  # Sums the lines up.
  defp total(%{lines: lines}), do: Enum.reduce(lines, 0, fn {p, n}, sum -> sum + p.price * n end)

  defp put_line(basket, product, quantity) do
    if quantity == 0, do: raise(EmptyError)
    %{basket | lines: [{product, quantity} | basket.lines]}
  end

  defp via(id), do: {:via, Registry, {Shop.Registry, id}}

  @doc false
  defmacro priced(do: block) do
    quote do
      unquote(block)
    end
  end

  defdelegate discount(basket, coupon), to: Coupon, as: :apply
end

defprotocol Shop.Printable do
  @doc "Text for people."
  def print(term)
end

defimpl Shop.Printable, for: Shop.Basket do
  def print(basket), do: Enum.map_join(basket.lines, "\n", &line_text/1)
  defp line_text({product, n}), do: "#{n} x #{product.name}"
end
