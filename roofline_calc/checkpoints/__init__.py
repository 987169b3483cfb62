"""Reading what Hugging Face and others publish: a model's shapes, and how its weights are stored."""
