using System;
using System.Collections.Generic;
using static Shop.Money;
using Db = Shop.Storage.Database;

namespace Shop.Catalog;

/// <summary>Finds products.</summary>
/// <remarks>Thread safe.</remarks>
[ApiController]
[Route("catalog", Name = "catalog")]
public sealed class CatalogService : ServiceBase<Product>, ICatalog, IDisposable
{
    public const int PageSize = 20;
    private readonly IRepository<Product> _repository;
    private static Logger _log = Logger.For("catalog");

    public CatalogService(IRepository<Product> repository, ILogger logger, int retries = 3) : base(repository)
    {
        _repository = repository;
    }

    [Inject] public IClock Clock { get; set; }
    public Product? Latest => _repository.Last();
    public event EventHandler Changed;

    // Finds one product.
    [HttpGet("{id}")]
    public async Task<Product> FindAsync(string id, Filter filter = null, params string[] tags)
    {
        var product = await _repository.LoadAsync<Product>(id, filter);
        var copy = new Product(product) { Name = Clean(product.Name) };
        Cart cart = new(copy, 2);
        foreach (Tag tag in product.Tags)
        {
            cart.Add(tag);
        }
        if (product is Bundle bundle)
        {
            bundle.Open();
        }
        _log?.Write(nameof(FindAsync));
        Action later = () => { int hidden = 1; Notify(hidden); };
        return copy;

        string Clean(string text) => Trim(text);
    }

    public static CatalogService operator +(CatalogService a, Product b) => a;

    public void Dispose() => GC.SuppressFinalize(this);

    private enum State
    {
        Idle,
        Busy = 2,
    }
}

/// <summary>A thing to buy.</summary>
public record Product(string Name, Price Price);

public interface ICatalog : IEnumerable<Product>
{
    Task<Product> FindAsync(string id);
    int Count { get; }
}

public struct Price
{
    public decimal Amount;
}

public delegate void Handler(Product product);

public class Cached(ICatalog inner, Clock clock) : CatalogBase(inner)
{
    public int Size() => inner.Count;
}

public static class Extensions
{
    public static string Label(this Product product, int width) => product.Name.PadLeft(width);
}
