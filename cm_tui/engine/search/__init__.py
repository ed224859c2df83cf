"""From a query to ranked passages."""
