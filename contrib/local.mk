# Scripts, examples, benches.
