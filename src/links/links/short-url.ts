import type {Addresses} from '../../platform/config/config.ts';

/** The short URL; on a custom domain it has the orgKey too (contract/links 3), and https. */
export const shortUrl = (
	{linkScheme, linkDomain}: Addresses,
	{hostname, orgKey, shortCode}: {hostname: string | null; orgKey: string; shortCode: string},
): string =>
	hostname === null
		? `${linkScheme}://${linkDomain}/${orgKey}/${shortCode}`
		: `https://${hostname}/${orgKey}/${shortCode}`;
