import {domainToASCII} from 'node:url';
import Joi from 'joi';
import {parse} from 'tldts';
import {answerOf, count, flag, instant, partOf, text, textOrNull, uuid} from '../../platform/http/answer.ts';
import {sizeFirst} from '../../platform/http/size-first.ts';
import {randomAlphanumeric} from '../../platform/text.ts';

export type DomainStatus = 'PENDING' | 'VERIFIED' | 'REJECTED';

/** A link domain. Organization, hostname and token are null for the shared one (LINK_DOMAIN), and only for it. */
export type Domain = {
	id: string;
	organizationId: string | null;
	hostname: string | null;
	status: DomainStatus;
	verificationToken: string | null;
	createdAt: Date;
};

/** The owner's settings of a custom domain; empty and null by default, which changes nothing (contract/hosts 8). */
export type DomainSettings = {
	/** Segments before a code in old addresses, without slashes at the ends. */
	pathPrefixes: string[];
	/** The target of `/`. */
	rootUrl: string | null;
	/** The target of unknown codes, with `{code}` for the code. */
	unknownCodesUrl: string | null;
};

export type ConfiguredDomain = Domain & DomainSettings;

/** Top-level names reserved for tests and private networks (RFC 2606, RFC 6762, ICANN's `internal`). */
const RESERVED_SUFFIXES = new Set(['test', 'example', 'invalid', 'local', 'internal']);
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const RECORD_LABEL = '_oplink';
// A name has at most 253 characters (RFC 1035, 2.3.4, as text), including the record's label and its dot.
const MAX_HOSTNAME = 253 - RECORD_LABEL.length - 1;

/**
 * The normalized host name in `text`: lower case, IDN as ASCII, without a trailing dot. Null for an address, a name
 * without a public or reserved suffix, a bare suffix, and invalid names.
 */
export const normalHostname = (text: string): string | null => {
	// The URL parser would truncate the name at one of these, or decode it.
	if (/[\s/?#%@:\\]/.test(text)) {
		return null;
	}

	const hostname = domainToASCII(text).replace(/\.$/, '');
	const isName = hostname.length <= MAX_HOSTNAME && hostname.split('.').every((label) => LABEL.test(label));
	const {isIp, isIcann, publicSuffix, domain} = parse(hostname);
	const isKnown = isIcann === true || RESERVED_SUFFIXES.has(publicSuffix ?? '');
	return isName && isIp === false && isKnown && domain !== null ? hostname : null;
};

const hostnameSchema = sizeFirst
	.string()
	.max(255)
	.meta({
		schema: {
			description: 'A host name with a public suffix, such as go.example.com, and not a host of this service.',
			pattern: '^[^\\s/?#%@:\\\\]+$',
		},
	})
	.custom(
		(value: string, helpers) =>
			normalHostname(value) ??
			helpers.message({custom: '{{#label}} must be a host name with a public suffix, such as go.example.com'}),
	);

export const newDomain = Joi.object<{hostname: string}>({hostname: hostnameSchema.required()});

/** The name of a host's TXT record. */
export const recordName = (hostname: string): string => `${RECORD_LABEL}.${hostname}`;

/** The value of the TXT record: known to one organization only, so it proves control of the zone. */
export const mintVerificationToken = (): string => `oplink-verification=${randomAlphanumeric(32)}`;

/**
 * Whether a domain is served: it must be VERIFIED; a custom one also needs the feature in its organization's plan.
 * @param hasCustomDomains whether the plan has them now.
 */
export const isServing = (domain: Pick<Domain, 'status' | 'organizationId'>, hasCustomDomains: boolean): boolean =>
	domain.status === 'VERIFIED' && (domain.organizationId === null || hasCustomDomains);

/** Whether new links use this domain; without a choice it is the shared one. */
const isDefault = (domain: Domain, defaultDomainId: string | null): boolean =>
	defaultDomainId === null ? domain.organizationId === null : domain.id === defaultDomainId;

type Context = {linkDomain: string; defaultDomainId: string | null};

/** The domain object of a link (contract/links 3). */
export const domainSummary = (domain: Domain, {linkDomain, defaultDomainId}: Context) => ({
	id: domain.id,
	hostname: domain.hostname ?? linkDomain,
	status: domain.status,
	isDefault: isDefault(domain, defaultDomainId),
});

/** A domain in its own routes (contract/portal 6). Omits unset settings. */
export const domainJson = (domain: ConfiguredDomain, context: Context) => ({
	...domainSummary(domain, context),
	verification:
		domain.hostname === null
			? null
			: {type: 'TXT' as const, name: recordName(domain.hostname), value: domain.verificationToken},
	createdAt: domain.createdAt,
	...(domain.pathPrefixes.length === 0 ? {} : {pathPrefixes: domain.pathPrefixes}),
	...(domain.rootUrl === null ? {} : {rootUrl: domain.rootUrl}),
	...(domain.unknownCodesUrl === null ? {} : {unknownCodes: {url: domain.unknownCodesUrl}}),
});

const summary = {
	id: uuid,
	hostname: text,
	status: Joi.valid('PENDING', 'VERIFIED', 'REJECTED'),
	isDefault: flag,
};

/** The domain object of a link (contract/links 3). */
export const domainSummaryAnswer = answerOf('DomainSummary', summary);

/** A domain in its own routes; `verification` is null for the shared link domain. */
export const domainAnswer = answerOf('Domain', {
	...summary,
	verification: partOf({type: Joi.valid('TXT'), name: text, value: text}).allow(null),
	createdAt: instant,
	pathPrefixes: Joi.array().items(text).optional(),
	rootUrl: text.optional(),
	unknownCodes: partOf({url: text}).optional(),
});

/** A code that no link has, with its visits (contract/hosts 9). */
export const unknownCodeAnswer = answerOf('UnknownCode', {
	code: textOrNull.description('Null stands for the further codes of days that had too many.'),
	count,
	lastAt: instant,
});

export const certificateAnswer = answerOf('CertificateAllowed', {domain: text});
