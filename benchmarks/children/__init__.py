"""Small programs that run inside a contender's own interpreter. They import nothing of the rest of the benchmarks."""
