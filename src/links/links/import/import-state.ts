import type {LinkInput} from '../link.ts';
import type {ImportedLink, ImportTarget} from './import-target.ts';

/** The links that rows of a chunk may refer to, by their names. */
export const createIndex = (links: ImportedLink[]) => {
	const byCode = new Map<string, ImportedLink>();
	const byExternalId = new Map<string, ImportedLink>();
	const add = (link: ImportedLink) => {
		byCode.set(link.short_code, link);
		if (link.external_id !== null) {
			byExternalId.set(link.external_id, link);
		}
	};
	const remove = (link: ImportedLink) => {
		byCode.delete(link.short_code);
		if (link.external_id !== null) {
			byExternalId.delete(link.external_id);
		}
	};
	links.forEach(add);
	return {
		add,
		remove,
		withCode: ({shortCode}: LinkInput) => (shortCode === undefined ? undefined : byCode.get(shortCode)),
		withExternalId: ({externalId}: LinkInput) => (externalId == null ? undefined : byExternalId.get(externalId)),
	};
};

/** Collects writes for one statement each. A change of names is written at once, because later rows may rely on it. */
export const createWrites = (target: ImportTarget) => {
	let inserts: Array<{link: ImportedLink; path: string | null}> = [];
	const updates = new Set<ImportedLink>();
	return {
		insert: (link: ImportedLink) => void inserts.push({link, path: link.path}),
		update: (link: ImportedLink) => void (inserts.some((one) => one.link === link) || updates.add(link)),
		flush: async () => {
			const [inserted, updated] = [inserts, [...updates]];
			inserts = [];
			updates.clear();
			if (inserted.length > 0) {
				await target.insert(inserted);
			}

			if (updated.length > 0) {
				await target.update(updated);
			}
		},
	};
};
