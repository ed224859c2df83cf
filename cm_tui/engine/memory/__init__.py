"""What agents and users did and wrote down."""
