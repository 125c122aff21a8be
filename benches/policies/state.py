# Round trips of robo.state() from a cell, for benches/measure.py.

# %%
robo.state()
spent = []
for _ in range(2000):
    start = time.perf_counter()
    robo.state()
    spent.append(time.perf_counter() - start)
spent.sort()
print(f"median_ms={1e3 * spent[1000]:.4f} p99_ms={1e3 * spent[1980]:.4f}")
