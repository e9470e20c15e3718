/**
 * Shares one call among all items of a turn of the event loop, because a call to another process costs much more than an
 * item of it.
 * @param handle called at the end of the turn. Returns a result for each item, in order; if it fails, all items fail.
 * @param groupOf items of different groups are in different calls.
 */
export const oncePerTurn = <Item, Result>(
	handle: (items: readonly Item[]) => Promise<readonly Result[]>,
	groupOf: (item: Item) => string = () => '',
): ((item: Item) => Promise<Result>) => {
	const groups = new Map<string, {items: Item[]; results: Promise<readonly Result[]>}>();

	const begin = (name: string) => {
		const items: Item[] = [];
		const results = new Promise((endOfTurn) => setImmediate(endOfTurn)).then(() => {
			groups.delete(name);
			return handle(items);
		});
		const group = {items, results};
		groups.set(name, group);
		return group;
	};

	return async (item) => {
		const name = groupOf(item);
		const {items, results} = groups.get(name) ?? begin(name);
		const index = items.push(item) - 1;
		return (await results)[index] as Result;
	};
};
