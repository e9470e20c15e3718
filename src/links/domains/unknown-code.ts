/** Taps of a domain's code on one day (UTC). */
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
