"""Finding possible secrets in stored data, and erasing events with everything derived from them."""
