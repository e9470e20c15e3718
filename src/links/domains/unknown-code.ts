/** Visits of a domain's code on one day (UTC). */
export type UnknownCodeCount = {
	domain_id: string;
	organization_id: string;
	day: string;
	code: string;
	visits: number;
	last_at: Date;
};

/** The further codes of a day, counted together; no address has an empty code. */
export const FURTHER_CODES = '';

/** The placeholder of the code in `unknownCodes.url`. */
export const CODE = '{code}';

/** The target of an unknown code; its segments are encoded, so they stay in their place in the URL. */
export const unknownCodeTarget = (url: string, segments: readonly string[]): string =>
	url.replaceAll(CODE, () => segments.map(encodeURIComponent).join('/'));

/** The host name of an `unknownCodes.url`. */
export const unknownCodesHost = (url: string): string => new URL(url).hostname.replace(/\.$/, '');
