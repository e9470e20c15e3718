import type {Addresses} from '../../../platform/config/config.ts';
import type {HttpError} from '../../../platform/errors.ts';
import type {LinkOwner} from '../link.ts';
import type {LinkReferences} from '../link-references.ts';
import {shortUrl} from '../short-url.ts';
import type {ImportTarget, RowResult} from './import-target.ts';

/** A row's line of the answer (contract/admin 4). */
export type ImportAnswer = {
	line: number;
	status: RowResult['status'];
	id?: string;
	url?: string;
	error?: Record<string, unknown>;
};

/** The error as the envelope would show it for the row alone. */
const errorJson = ({status, message, details, extras}: HttpError) => ({
	statusCode: status,
	message,
	...(details === null ? {} : {details}),
	...extras,
});

/** A dry run has no id for a link that does not exist yet, and its URL only if the row gives the short code. */
export const importAnswer = (
	addresses: Addresses,
	{orgKey}: LinkOwner,
	references: LinkReferences,
	{isDryRun}: ImportTarget,
	result: RowResult,
): ImportAnswer => {
	if (result.status === 'failed') {
		return {line: result.line, status: result.status, error: errorJson(result.error)};
	}

	const {line, status, link} = result;
	const {hostname} = references.view(link);
	return {
		line,
		status,
		...(isDryRun && link.isNew ? {} : {id: link.id}),
		...(isDryRun && !link.hasOwnCode ? {} : {url: shortUrl(addresses, {hostname, orgKey, shortCode: link.short_code})}),
	};
};
