/** Runs `work` for up to `limit` items at once and yields results as they complete. */
export async function* inParallel<T, R>(
	items: AsyncIterable<T> | Iterable<T>,
	limit: number,
	work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
	const underWay = new Map<number, Promise<[number, R]>>();
	const next = async (): Promise<R> => {
		const [key, result] = await Promise.race(underWay.values());
		underWay.delete(key);
		return result;
	};
	let key = 0;
	for await (const item of items) {
		const own = key++;
		const promise = work(item).then((result): [number, R] => [own, result]);
		// The first failure ends the import; concurrent ones must not crash the process.
		promise.catch(() => {});
		underWay.set(own, promise);
		if (underWay.size >= limit) {
			yield await next();
		}
	}

	while (underWay.size > 0) {
		yield await next();
	}
}
