/**
 * Writes MMDB files of networks and their countries, by the format's published layout (MaxMind DB File Format 2.0): a
 * search tree of 24-bit records over IPv6, in which IPv4 is `::/96`, then the data section and the metadata.
 */

type Value = string | number | bigint | Date | Value[] | {[key: string]: Value};

const control = (type: number, size: number): Buffer => {
	const [short, rest] = size < 29 ? [size, []] : [29, [size - 29]];
	return Buffer.from(type < 8 ? [(type << 5) | short, ...rest] : [short, type - 7, ...rest]);
};

const bytesOf = (value: number): number[] => {
	const hex = value.toString(16);
	return value === 0 ? [] : [...Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')];
};

const encode = (value: Value): Buffer => {
	if (typeof value === 'string') {
		return Buffer.concat([control(2, Buffer.byteLength(value)), Buffer.from(value)]);
	}

	if (typeof value === 'number') {
		return Buffer.concat([control(6, bytesOf(value).length), Buffer.from(bytesOf(value))]);
	}

	if (value instanceof Date) {
		const bytes = bytesOf(Math.floor(value.getTime() / 1000));
		return Buffer.concat([control(9, bytes.length), Buffer.from(bytes)]);
	}

	if (Array.isArray(value)) {
		return Buffer.concat([control(11, value.length), ...value.map(encode)]);
	}

	const entries = Object.entries(value as Record<string, Value>);
	return Buffer.concat([control(7, entries.length), ...entries.flatMap(([key, one]) => [encode(key), encode(one)])]);
};

/** The bits of an address, an IPv4 one behind 96 zeros. */
const bitsOf = (address: string): number[] => {
	const bits = (numbers: number[], width: number) =>
		numbers.flatMap((number) => Array.from({length: width}, (_, index) => (number >> (width - 1 - index)) & 1));
	if (!address.includes(':')) {
		return [...Array.from({length: 96}, () => 0), ...bits(address.split('.').map(Number), 8)];
	}

	const [head = '', tail = ''] = address.split('::');
	const groups = [head, tail].map((part) =>
		part === '' ? [] : part.split(':').map((one) => Number.parseInt(one, 16)),
	);
	const [before = [], after = []] = groups;
	const middle = Array.from({length: 8 - before.length - after.length}, () => 0);
	return bits([...before, ...middle, ...after], 16);
};

type Node = [Node | number | null, Node | number | null];

/** @param networks such as `['203.0.113.0/24', {country: {iso_code: 'DE'}}]`; they must not overlap. */
export const mmdbOf = (networks: ReadonlyArray<readonly [cidr: string, data: Value]>, built = new Date()): Buffer => {
	const root: Node = [null, null];
	const parts: Buffer[] = [];
	let size = 0;
	for (const [cidr, data] of networks) {
		const [address = '', length = ''] = cidr.split('/');
		const depth = Number(length) + (address.includes(':') ? 0 : 96);
		let node = root;
		for (const [index, bit] of bitsOf(address).slice(0, depth).entries()) {
			if (index === depth - 1) {
				node[bit as 0] = size;
				break;
			}

			const next = node[bit as 0];
			const child: Node = Array.isArray(next) ? next : [null, null];
			node[bit as 0] = child;
			node = child;
		}

		const bytes = encode(data);
		parts.push(bytes);
		size += bytes.length;
	}

	const nodes: Node[] = [root];
	for (const node of nodes) {
		nodes.push(...node.filter((child) => Array.isArray(child)));
	}

	const places = new Map(nodes.map((node, index) => [node, index]));
	const tree = Buffer.alloc(nodes.length * 6);
	for (const [index, node] of nodes.entries()) {
		for (const [side, child] of node.entries()) {
			const record = Array.isArray(child)
				? (places.get(child) ?? 0)
				: child === null
					? nodes.length
					: nodes.length + 16 + child;
			tree.writeUIntBE(record, index * 6 + side * 3, 3);
		}
	}

	const metadata = {
		binary_format_major_version: 2,
		binary_format_minor_version: 0,
		build_epoch: built,
		database_type: 'Countries-Of-Tests',
		description: {en: 'networks of tests'},
		ip_version: 6,
		languages: ['en'],
		node_count: nodes.length,
		record_size: 24,
	};
	return Buffer.concat([
		tree,
		Buffer.alloc(16),
		...parts,
		Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'),
		encode(metadata),
	]);
};
