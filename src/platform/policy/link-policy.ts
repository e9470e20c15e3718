import {stat} from 'node:fs/promises';
import {LRUCache} from 'lru-cache';
import type {Logger} from 'pino';
import {stampOf} from '../reread-file.ts';
import {HostList, readHostList} from './host-list.ts';
import {normalHost} from './list-lines.ts';
import {type ListAction, type ListDefinition, readPolicyFile} from './policy-file.ts';

/** The verdict of the lists on an address: the list's action, and its name. */
export type Verdict = {state: ListAction; list: string};

/** A list in use. `fault`: why its file as it is now cannot be used; null if it is in use. */
type Loaded = {definition: ListDefinition; contents: HostList; stamp: string | null; since: Date; fault: string | null};

/** Addresses, and hosts, whose verdicts are remembered: those of the links in use. */
const MAX_KNOWN = 20_000;

const NO_ENTRIES = new HostList('hosts', new BigUint64Array(0), 0);

const isSame = (one: ListDefinition, other: ListDefinition): boolean =>
	one.name === other.name && one.file === other.file && one.format === other.format && one.action === other.action;

/** Differs between two states of a file; null for one that is not there. */
const stampNow = (file: string): Promise<string | null> => stat(file).then(stampOf, () => null);

/** Reads a list whole: one that changes meanwhile has no stamp, and is read again. */
const readList = async (definition: ListDefinition): Promise<Pick<Loaded, 'contents' | 'stamp' | 'since'>> => {
	const before = await stat(definition.file);
	const contents = await readHostList(definition.file, definition.format);
	const stamp = stampOf(before);
	return {contents, stamp: (await stampNow(definition.file)) === stamp ? stamp : null, since: before.mtime};
};

/** The sentence of a list's fault. */
const faultText = ({name, file}: ListDefinition, error: unknown): string =>
	`the list ${name} (${file}) ${(error as Error).message}`;

/**
 * The lists of addresses that links must not lead to, or of which visitors are warned (LINK_POLICY_FILE). Without the
 * file it has no lists, and every question costs one comparison.
 */
export class LinkPolicy {
	readonly #file: string | null;
	readonly #log: Pick<Logger, 'info' | 'error'>;
	#lists: Loaded[] = [];
	#fileStamp: string | null = null;
	#fileFault: string | null = null;
	#known = new LRUCache<string, {verdict: Verdict | null}>({max: MAX_KNOWN});
	#hosts = new LRUCache<string, readonly Loaded[]>({max: MAX_KNOWN});
	#isOpen = false;
	/** Changes with the lists, which outdates what was derived from former ones. */
	version = 0;

	private constructor(file: string | null, log: Pick<Logger, 'info' | 'error'>) {
		this.#file = file;
		this.#log = log;
	}

	/** One without lists. */
	static none(): LinkPolicy {
		return new LinkPolicy(null, {info: () => {}, error: () => {}});
	}

	/** Reads the lists. `faults()` tells which of them cannot be used; a start with such a list ends. */
	static async open(file: string | null, log: Pick<Logger, 'info' | 'error'>): Promise<LinkPolicy> {
		const policy = new LinkPolicy(file, log);
		await policy.#read();
		policy.#isOpen = true;
		return policy;
	}

	get isEmpty(): boolean {
		return this.#lists.length === 0;
	}

	/** What doctor and metrics show. */
	lists(): Array<{name: string; entries: number; fault: string | null}> {
		return this.#lists.map(({definition: {name}, contents, fault}) => ({name, entries: contents.entries, fault}));
	}

	/** Why LINK_POLICY_FILE or one of its lists cannot be used now; the former ones stay in use. */
	faults(): string[] {
		return [this.#fileFault, ...this.#lists.map(({fault}) => fault)].filter((fault) => fault !== null);
	}

	/** Since when the list has its contents, by the time of its file; null for a list that is not there. */
	since(list: string): Date | null {
		return this.#lists.find(({definition}) => definition.name === list)?.since ?? null;
	}

	/** The verdict on an address: of several lists, one that blocks, then the first. Null for an address on none. */
	of(address: string): Verdict | null {
		if (this.isEmpty) {
			return null;
		}

		let known = this.#known.get(address);
		if (known === undefined) {
			known = {verdict: this.#judge(address)};
			this.#known.set(address, known);
		}

		return known.verdict;
	}

	/** The gravest verdict on some addresses. */
	ofAll(addresses: Iterable<string | null | undefined>): Verdict | null {
		let found: Verdict | null = null;
		for (const address of this.isEmpty ? [] : addresses) {
			const verdict = address == null ? null : this.of(address);
			if (verdict?.state === 'block') {
				return verdict;
			}

			found ??= verdict;
		}

		return found;
	}

	/** The verdict on a host name of ours. */
	ofHost(hostname: string): Verdict | null {
		return this.of(`https://${hostname}/`);
	}

	/** Reads what has changed since. @returns whether the lists have changed. */
	async refresh(): Promise<boolean> {
		const before = this.version;
		await this.#read();
		return this.version !== before;
	}

	/** The lists that have a host, whatever the address: many links lead to few hosts. */
	#listsOf(host: string): readonly Loaded[] {
		const known = this.#hosts.get(host) ?? this.#lists.filter(({contents}) => contents.includes(host, null));
		this.#hosts.set(host, known);
		return known;
	}

	#judge(address: string): Verdict | null {
		if (!URL.canParse(address)) {
			return null;
		}

		const url = new URL(address);
		const host = normalHost(url.hostname);
		const ofHost = this.#listsOf(host);
		const found = this.#lists.filter(
			(list) => ofHost.includes(list) || (list.definition.format === 'urls' && list.contents.includes(host, url)),
		);
		const first = found.find(({definition}) => definition.action === 'block') ?? found[0];
		return first === undefined ? null : {state: first.definition.action, list: first.definition.name};
	}

	/** The lists that the file names now; those in use while it cannot be used. */
	async #definitions(): Promise<ListDefinition[]> {
		const inUse = this.#lists.map(({definition}) => definition);
		if (this.#file === null) {
			return inUse;
		}

		const stamp = await stampNow(this.#file);
		if (stamp !== null && stamp === this.#fileStamp) {
			return inUse;
		}

		const {lists, faults} = readPolicyFile(this.#file);
		const fault = faults.length === 0 ? null : faults.join('; ');
		this.#report(fault, this.#fileFault);
		this.#fileFault = fault;
		this.#fileStamp = stamp;
		return fault === null ? lists : inUse;
	}

	async #read(): Promise<void> {
		const definitions = await this.#definitions();
		const next: Loaded[] = [];
		for (const definition of definitions) {
			const former = this.#lists.find((one) => isSame(one.definition, definition)) ?? null;
			next.push(await this.#load(definition, former));
		}

		const isChanged =
			next.length !== this.#lists.length || next.some(({contents}, index) => contents !== this.#lists[index]?.contents);
		this.#lists = next;
		// Even without changed contents: the kept lists must be those in use.
		this.#hosts.clear();
		if (isChanged) {
			this.#known.clear();
			this.version += 1;
		}
	}

	async #load(definition: ListDefinition, former: Loaded | null): Promise<Loaded> {
		const stamp = await stampNow(definition.file);
		if (former !== null && stamp !== null && stamp === former.stamp) {
			return former.fault === null ? former : {...former, fault: null};
		}

		try {
			const read = await readList(definition);
			const {entries, skipped} = read.contents;
			this.#log.info({list: definition.name, entries, skipped}, 'read a list of LINK_POLICY_FILE');
			return {definition, ...read, fault: null};
		} catch (error) {
			const fault = faultText(definition, error);
			this.#report(fault, former?.fault ?? null);
			// Its former contents stay in use; the state that failed is not read again.
			return former === null
				? {definition, contents: NO_ENTRIES, stamp: null, since: new Date(0), fault}
				: {...former, fault};
		}
	}

	/** Logs a fault once for each change. */
	#report(fault: string | null, former: string | null): void {
		if (fault !== null && fault !== former && this.#isOpen) {
			this.#log.error({reason: fault}, 'LINK_POLICY_FILE cannot be used; its former contents stay in use');
		}
	}
}
