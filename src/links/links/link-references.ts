import {hasFeature, type PlanDeps} from '../../accounts/plans/entitlements.ts';
import {type Columns, columnsOf} from '../../platform/db/columns.ts';
import type {Db} from '../../platform/db/db.ts';
import {prepared, run, type Sql, sql} from '../../platform/db/sql.ts';
import {
	domainNotFound,
	type FieldFault,
	featureNotAvailable,
	required,
	templateNotFound,
	unknownChannel,
	validationFailed,
} from '../../platform/errors.ts';
import type {LinkPolicy} from '../../platform/policy/link-policy.ts';
import type {Services} from '../../services.ts';
import {type Domain, isServing} from '../domains/domain.ts';
import {destinationListed, loopFaults} from '../http-url.ts';
import {type JoinedLink, type LinkInput, type LinkOwner, type LinkRow, type LinkTemplate, withInput} from './link.ts';
import {type Addresses, addressesOf, effectiveAddresses, safetyOf} from './link-safety.ts';

/** 'share': the rows stay unchanged until the transaction ends, for writes that rely on them. */
type Lock = 'none' | 'share';

const domainColumns: Columns<Domain> = columnsOf(
	'id, organization_id, hostname, status, verification_token, created_at',
);
const templateColumns: Columns<LinkTemplate> = columnsOf(
	'id, path, deferred_deep_linking, match_window_hours, fallback_url, destinations, og_image_url',
);

const templateAddresses = ({fallbackUrl, destinations, ogImageUrl}: LinkTemplate): Addresses => ({
	fallback_url: fallbackUrl,
	destinations,
	og_image_url: ogImageUrl,
});

/** The addresses of app configurations by organization. Read if there are lists alone: links without any need none. */
export const readAppAddresses = async (
	{linkPolicy}: Pick<Services, 'linkPolicy'>,
	db: Db,
	organizationIds: readonly string[],
): Promise<Map<string, Addresses>> => {
	const rows: Array<Addresses & {organization_id: string}> = linkPolicy.isEmpty
		? []
		: await run(
				db,
				prepared(
					'addresses of app configurations',
					sql`SELECT organization_id, fallback_url, destinations, og_image_url, logo_url
						FROM app_configs WHERE organization_id = ANY((SELECT ${organizationIds}::uuid[])::uuid[])`,
				),
			);
	return new Map(rows.map(({organization_id: id, ...addresses}) => [id, addresses]));
};

export type ReferenceDeps = PlanDeps & Pick<Services, 'linkPolicy'>;

const lockSql: Record<Lock, {name: string; suffix: Sql}> = {
	none: {name: 'read domains of links', suffix: sql``},
	share: {name: 'lock domains of links', suffix: sql`FOR KEY SHARE`},
};

/** The domains of some organizations, and the shared one. */
export const readDomains = (db: Db, organizationIds: readonly string[], lock: Lock): Promise<Domain[]> => {
	const {name, suffix} = lockSql[lock];
	return run(
		db,
		prepared(
			name,
			sql`SELECT ${domainColumns.of('domains')} FROM domains
			WHERE organization_id = ANY ((SELECT CAST(${organizationIds} AS uuid[]))::uuid[]) OR organization_id IS NULL
			ORDER BY id ${suffix}`,
		),
	);
};

const readChannels = async (db: Db, organizationId: string, names: string[], lock: Lock): Promise<Set<string>> => {
	if (names.length === 0) {
		return new Set();
	}

	const rows: Array<{name: string}> = await db('channels')
		.where({organization_id: organizationId})
		.whereIn('name', names)
		.orderBy('name')
		.modify((query) => (lock === 'share' ? query.forKeyShare() : query))
		.select('name');
	return new Set(rows.map(({name}) => name));
};

const readTemplates = async (db: Db, organizationId: string, ids: string[], lock: Lock): Promise<LinkTemplate[]> =>
	ids.length === 0
		? []
		: db('templates')
				.where({organization_id: organizationId})
				.whereIn('id', ids)
				.orderBy('id')
				.modify((query) => (lock === 'share' ? query.forKeyShare() : query))
				.select(templateColumns.list);

const distinct = (values: Iterable<string | null | undefined>): string[] => [
	...new Set([...values].filter((value) => value != null)),
];

export const pathRequired: FieldFault = {message: 'path is required', field: 'path'};

type ReferencedRows = {
	domains: ReadonlyMap<string, Domain>;
	channels: ReadonlySet<string>;
	templates: ReadonlyMap<string, LinkTemplate>;
	hasCustomDomains: boolean;
	/** The addresses of the organization's app configuration, if there are lists. */
	app: Addresses | null;
	linkPolicy: LinkPolicy;
};

/** The rows that links refer to: the organization's domains, and the requested templates and channels. */
export class LinkReferences {
	readonly #read: ReferencedRows;
	/** The domain of new links: the organization's default if it serves, otherwise the shared one. */
	readonly defaultDomain: Domain;

	constructor(read: ReferencedRows, defaultDomainId: string | null) {
		this.#read = read;
		const shared = [...read.domains.values()].find((domain) => domain.organizationId === null);
		const chosen = defaultDomainId === null ? undefined : read.domains.get(defaultDomainId);
		const defaultDomain = this.#serves(chosen) ? chosen : shared;
		if (defaultDomain === undefined) {
			throw new Error('the shared link domain is missing');
		}

		this.defaultDomain = defaultDomain;
	}

	/** Whether links may be on the domain now. */
	hasDomain(id: string): boolean {
		return this.#serves(this.#read.domains.get(id.toLowerCase()));
	}

	/** The link with its domain, the host of its URL, and its template. */
	view(link: LinkRow): JoinedLink {
		const {app, linkPolicy} = this.#read;
		const domain = this.#domainOf(link);
		const template = this.#templateOf(link);
		const addresses = effectiveAddresses([link, template && templateAddresses(template), app]);
		const safety = safetyOf(linkPolicy, {decision: link.decision, changedAt: link.updated_at}, addresses);
		return {link, domain, hostname: this.#serves(domain) ? domain.hostname : null, template, safety};
	}

	/**
	 * The row after applying `input` to `row`. A null domain is the default one.
	 * @throws 404 for a foreign template and for a domain that is foreign or not VERIFIED, 403 FEATURE_NOT_AVAILABLE for a
	 * custom domain without that feature, 400 for an unknown channel, a missing path, and a URL on the link's own domain.
	 */
	apply(row: LinkRow, input: LinkInput): LinkRow {
		const after = withInput(row, {...input, ...this.#domainIdOf(input), ...this.#templateIdOf(input)});
		const template = this.#templateOf(after);
		const {hostname} = this.#domainOf(after);
		const own = Object.entries(after.destinations ?? {}).map(([name, url]) => [`destinations.${name}`, url]);
		const urls = {
			fallbackUrl: after.fallback_url,
			...Object.fromEntries(own),
			'og.imageUrl': after.og_image_url,
		};
		const others = [
			...(after.path === null && (template?.path ?? null) === null ? [pathRequired] : []),
			...this.#blockedTemplate(input.templateId == null ? null : template),
			...(hostname === null ? [] : loopFaults(hostname, urls)),
		];
		const {channel = null} = input;
		const isUnknown = channel !== null && !this.#read.channels.has(channel);
		if (isUnknown && others.length === 0) {
			throw unknownChannel(channel);
		}

		if (others.length > 0) {
			throw validationFailed(isUnknown ? [...(unknownChannel(channel).details ?? []), ...others] : others);
		}

		return after;
	}

	#serves(domain: Domain | undefined): domain is Domain {
		return domain !== undefined && isServing(domain, this.#read.hasCustomDomains);
	}

	#domainOf(link: LinkRow): Domain {
		return this.#read.domains.get(link.domain_id) ?? this.defaultDomain;
	}

	#templateOf({template_id: id}: LinkRow): LinkTemplate | null {
		return id === null ? null : (this.#read.templates.get(id) ?? null);
	}

	#domainIdOf({domainId}: LinkInput): {domainId?: string} {
		if (domainId == null) {
			return domainId === null ? {domainId: this.defaultDomain.id} : {};
		}

		const domain = this.#read.domains.get(domainId.toLowerCase());
		if (domain?.status !== 'VERIFIED') {
			throw domainNotFound();
		}

		if (!this.#serves(domain)) {
			throw featureNotAvailable('custom_domains');
		}

		return {domainId: domain.id};
	}

	#templateIdOf({templateId}: LinkInput): {templateId?: string | null} {
		if (templateId == null) {
			return templateId === null ? {templateId} : {};
		}

		return {templateId: required(this.#read.templates.get(templateId.toLowerCase()), templateNotFound).id};
	}

	/** No link is made of a template that leads to a blocked address. */
	#blockedTemplate(template: LinkTemplate | null): FieldFault[] {
		const verdict = template === null ? null : this.#read.linkPolicy.ofAll(addressesOf(templateAddresses(template)));
		return verdict?.state === 'block' ? [{field: 'templateId', message: destinationListed(verdict.list)}] : [];
	}
}

/**
 * Reads the rows that `links` and `inputs` refer to. Every transaction locks these before links.
 * @param domains, apps those of `readDomains` and `readAppAddresses`, if they have been read.
 */
export const readReferences = async (
	services: ReferenceDeps,
	db: Db,
	owner: Omit<LinkOwner, 'orgKey'>,
	{
		links = [],
		inputs = [],
		lock = 'none',
		domains: known,
		apps,
	}: {
		links?: readonly LinkRow[];
		inputs?: readonly LinkInput[];
		lock?: Lock;
		domains?: readonly Domain[];
		apps?: ReadonlyMap<string, Addresses>;
	},
): Promise<LinkReferences> => {
	const usable = (known ?? (await readDomains(db, [owner.id], lock))).filter(
		({organizationId}) => organizationId === null || organizationId === owner.id,
	);
	const domains = new Map(usable.map((domain) => [domain.id, domain]));
	const channels = await readChannels(db, owner.id, distinct(inputs.map(({channel}) => channel)), lock);
	const templateIds = [...links.map((link) => link.template_id), ...inputs.map(({templateId}) => templateId)];
	const templates = new Map(
		(await readTemplates(db, owner.id, distinct(templateIds), lock)).map((template) => [template.id, template]),
	);
	const {linkPolicy} = services;
	const app = (apps ?? (await readAppAddresses(services, db, [owner.id]))).get(owner.id) ?? null;
	const hasCustomDomains = hasFeature(services, owner, 'custom_domains');
	return new LinkReferences({domains, channels, templates, hasCustomDomains, app, linkPolicy}, owner.defaultDomainId);
};
