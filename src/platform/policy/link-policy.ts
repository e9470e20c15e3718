import {stat} from 'node:fs/promises';
import type {Logger} from 'pino';
import {stampOf} from '../reread-file.ts';
import {digestsOf, HostList, readHostList} from './host-list.ts';
import type {ListAction, ListDefinition} from './policy-file.ts';

/** The verdict of the lists on an address: the list's action, its name, and the time of its file. */
export type Verdict = {state: ListAction; list: string; since: Date};

/** A list in use. `fault`: why its file as it is now cannot be used; null if it is in use. */
type LoadedList = {definition: ListDefinition; contents: HostList; stamp: string | null; fault: string | null};

/** Differs between two states of a file; null for one that is not there. */
const stampNow = (file: string): Promise<string | null> => stat(file).then(stampOf, () => null);

/**
 * The lists of addresses that links must not lead to, or of which visitors are warned (LINK_POLICY_FILE). Without the
 * file it has no lists, and every question costs one comparison.
 */
export class LinkPolicy {
	readonly #file: string | null;
	readonly #log: Pick<Logger, 'info' | 'error'>;
	#lists: LoadedList[] = [];
	/** The stamp of the file as it was read last. */
	#stamp: string | null | undefined;
	#fault: string | null = null;
	/** Changes with the lists; results of former lists are then outdated. */
	version = 0;

	private constructor(file: string | null, log: Pick<Logger, 'info' | 'error'>) {
		this.#file = file;
		this.#log = log;
	}

	/** A policy without lists. */
	static none(): LinkPolicy {
		return new LinkPolicy(null, {info: () => {}, error: () => {}});
	}

	/** Reads the lists. `faults()` tells which of them cannot be used; a start with such a list ends. */
	static async open(file: string | null, log: Pick<Logger, 'info' | 'error'>): Promise<LinkPolicy> {
		const policy = new LinkPolicy(file, log);
		await policy.refresh();
		return policy;
	}

	get isEmpty(): boolean {
		return this.#lists.length === 0;
	}

	/** The state of the lists, for doctor and metrics. */
	lists(): Array<{name: string; entries: number; since: Date; fault: string | null}> {
		return this.#lists.map(({definition: {name}, contents: {entries, since}, fault}) => ({
			name,
			entries,
			since,
			fault,
		}));
	}

	/** Why LINK_POLICY_FILE or one of its lists cannot be used now; the former ones stay in use. */
	faults(): string[] {
		return [this.#fault, ...this.#lists.map(({fault}) => fault)].filter((fault) => fault !== null);
	}

	/** The verdict on an address: of several lists, one that blocks, then the first. Null for an address on none. */
	of(address: string): Verdict | null {
		const digests = this.isEmpty ? null : digestsOf(address);
		const found = digests === null ? [] : this.#lists.filter(({contents}) => contents.includes(digests));
		const first = found.find(({definition}) => definition.action === 'block') ?? found[0];
		return first === undefined
			? null
			: {state: first.definition.action, list: first.definition.name, since: first.contents.since};
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

	/** Reads the files that have changed since. @returns whether the lists have changed. */
	async refresh(): Promise<boolean> {
		const next: LoadedList[] = [];
		for (const definition of await this.#definitions()) {
			next.push(await this.#load(definition));
		}

		const former = this.#lists;
		const isChanged =
			next.length !== former.length ||
			next.some(
				({contents, definition}, index) =>
					contents !== former[index]?.contents || definition !== former[index].definition,
			);
		this.#lists = next;
		this.version += isChanged ? 1 : 0;

		return isChanged;
	}

	/** The lists that the file names now; those in use while it cannot be used. */
	async #definitions(): Promise<ListDefinition[]> {
		const inUse = this.#lists.map(({definition}) => definition);
		const stamp = this.#file === null ? undefined : await stampNow(this.#file);
		if (this.#file === null || stamp === this.#stamp) {
			return inUse;
		}

		this.#stamp = stamp;
		try {
			// Loaded late: it loads joi, which servers without lists do not need before their first page.
			const {readPolicyFile} = await import('./policy-file.ts');
			const named = await readPolicyFile(this.#file);
			this.#fault = null;
			return named;
		} catch (error) {
			this.#fault = this.#noted((error as Error).message);
			return inUse;
		}
	}

	/** A list as its file is now, with its former contents if that cannot be used. It is read once for each change. */
	async #load(definition: ListDefinition): Promise<LoadedList> {
		const {name, file, format} = definition;
		const former = this.#lists.find((one) => one.definition.name === name);
		const stamp = await stampNow(file);
		if (former?.stamp === stamp && former.definition.file === file && former.definition.format === format) {
			return {...former, definition};
		}

		try {
			const contents = await readHostList(file, format);
			const {entries, skipped} = contents;
			this.#log.info({list: name, entries, skipped}, 'read a list of LINK_POLICY_FILE');
			// The stamp is from before the read: a file that changes meanwhile is read again at the next refresh.
			return {definition, contents, stamp, fault: null};
		} catch (error) {
			const fault = this.#noted(`the list ${name} (${file}) ${(error as Error).message}`);
			return {definition, contents: former?.contents ?? new HostList(format), stamp, fault};
		}
	}

	#noted(fault: string): string {
		this.#log.error({reason: fault}, 'LINK_POLICY_FILE cannot be used; a running server keeps its former contents');
		return fault;
	}
}
