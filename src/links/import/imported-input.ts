import {effectiveMatching, type LinkInput} from '../link.ts';
import type {LinkReferences} from '../link-references.ts';
import type {ReadableRow} from './import-row.ts';
import type {HeldLink} from './import-target.ts';

/**
 * The input of a row. An exported row may name a domain that this organization does not have: it is dropped. It shows
 * its matching fields as they took effect: those that a link inherits are not set on it.
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
	const isSet = <T>(own: T | null, shown: T, value: T | null | undefined): value is T | null =>
		value !== undefined && !(own === null && value === shown);
	return {
		...others,
		...(isSet(link.deferred_deep_linking, effective.deferredDeepLinking, deferredDeepLinking)
			? {deferredDeepLinking}
			: {}),
		...(isSet(link.match_window_hours, effective.matchWindowHours, matchWindowHours) ? {matchWindowHours} : {}),
	};
};
