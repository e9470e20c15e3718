/** A parameter as the wire has it: text, or a hash or a list of such. */
export type Param = string | Param[] | Params;
export type Params = {[name: string]: Param};

type Node = string | Map<string, Node>;

/** `items[0][price]` → `items`, `0`, `price`. */
const pathOf = (name: string): string[] => {
	const [head = '', ...rest] = name.split('[');
	return [head, ...rest.map((part) => part.replace(/\]$/, ''))];
};

const isIndexed = (node: Map<string, Node>): boolean => [...node.keys()].every((key) => /^\d+$/.test(key));

const paramOf = (node: Node): Param => {
	if (typeof node === 'string') {
		return node;
	}

	return isIndexed(node) ? [...node.values()].map(paramOf) : paramsOf(node);
};

const paramsOf = (node: Map<string, Node>): Params =>
	Object.fromEntries([...node].map(([name, value]) => [name, paramOf(value)]));

/** Form-encoded parameters with bracket paths, of a body or of a query. `name[]` is the next of a list. */
export const readForm = (form: URLSearchParams): Params => {
	const root = new Map<string, Node>();
	for (const [name, value] of form) {
		const path = pathOf(name);
		const last = path.pop() ?? '';
		let node = root;
		for (const key of path) {
			const inner = node.get(key);
			const next = inner instanceof Map ? inner : new Map<string, Node>();
			node.set(key, next);
			node = next;
		}

		node.set(last === '' ? String(node.size) : last, value);
	}

	return paramsOf(root);
};
