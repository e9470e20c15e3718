import {effectiveMatching, type LinkInput} from '../link.ts';
import type {LinkReferences} from '../link-references.ts';
import type {ReadableRow} from './import-row.ts';
import type {HeldLink} from './import-target.ts';

/**
 * What a row says of a link. An exported row names a domain of its organization, which another one does not have, and
 * shows its matching fields as they took effect, which is no reason to set them on a link that leaves them out.
 */
export const importedInput = (
	{input, isExported}: ReadableRow,
	references: LinkReferences,
	link: HeldLink | null,
): LinkInput => {
	const {domainId, ...rest} = input;
	const isForeign = isExported && domainId != null && !references.hasDomain(domainId);
	const kept: LinkInput = domainId === undefined || isForeign ? rest : input;
	if (!isExported || link === null) {
		return kept;
	}

	const {deferredDeepLinking, matchWindowHours, ...others} = kept;
	const effective = effectiveMatching(link, references.view(link).template);
	const says = <T>(own: T | null, shown: T, value: T | null | undefined): value is T | null =>
		value !== undefined && !(own === null && value === shown);
	return {
		...others,
		...(says(link.deferred_deep_linking, effective.deferredDeepLinking, deferredDeepLinking)
			? {deferredDeepLinking}
			: {}),
		...(says(link.match_window_hours, effective.matchWindowHours, matchWindowHours) ? {matchWindowHours} : {}),
	};
};
