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

/** The rows that links refer to: the organization's domains, and the requested templates and channels. */
export type LinkReferences = {
	/** The domain of new links: the organization's default if it serves, otherwise the shared one. */
	defaultDomain: Domain;
	/** Whether links may be on the domain now. */
	hasDomain(id: string): boolean;
	/** The link with its domain, the host of its URL, and its template. */
	view(link: LinkRow): JoinedLink;
	/**
	 * The row after applying `input` to `row`. A null domain is the default one.
	 * @throws 404 for a foreign template and for a domain that is foreign or not VERIFIED, 403 FEATURE_NOT_AVAILABLE for a
	 * custom domain without that feature, 400 for an unknown channel, a missing path, and a URL on the link's own domain.
	 */
	apply(row: LinkRow, input: LinkInput): LinkRow;
};

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
		: await db('app_configs')
				.whereIn('organization_id', organizationIds)
				.select('organization_id', 'fallback_url', 'destinations', 'og_image_url', 'logo_url');
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

/** The rules over rows that have been read. */
const referencesOf = (
	{defaultDomainId}: Pick<LinkOwner, 'defaultDomainId'>,
	{domains, channels, templates, hasCustomDomains, app, linkPolicy}: ReferencedRows,
): LinkReferences => {
	const shared = [...domains.values()].find((domain) => domain.organizationId === null);
	const chosen = defaultDomainId === null ? undefined : domains.get(defaultDomainId);
	const serves = (domain: Domain | undefined): domain is Domain =>
		domain !== undefined && isServing(domain, hasCustomDomains);
	const defaultDomain = serves(chosen) ? chosen : shared;
	if (defaultDomain === undefined) {
		throw new Error('the shared link domain is missing');
	}

	const requireDomain = (id: string): Domain => {
		const domain = domains.get(id.toLowerCase());
		if (domain?.status !== 'VERIFIED') {
			throw domainNotFound();
		}

		if (!serves(domain)) {
			throw featureNotAvailable('custom_domains');
		}

		return domain;
	};
	const domainOf = (link: LinkRow): Domain => domains.get(link.domain_id) ?? defaultDomain;
	const templateOf = (link: LinkRow): LinkTemplate | null =>
		link.template_id === null ? null : (templates.get(link.template_id) ?? null);

	const domainIdOf = ({domainId}: LinkInput): {domainId?: string} => {
		if (domainId == null) {
			return domainId === null ? {domainId: defaultDomain.id} : {};
		}

		return {domainId: requireDomain(domainId).id};
	};

	const templateIdOf = ({templateId}: LinkInput): {templateId?: string | null} => {
		if (templateId == null) {
			return templateId === null ? {templateId} : {};
		}

		const template = required(templates.get(templateId.toLowerCase()), templateNotFound);
		return {templateId: template.id};
	};

	/** No link is made of a template that leads to a blocked address. */
	const blockedTemplate = (template: LinkTemplate | null): FieldFault[] => {
		const verdict = template === null ? null : linkPolicy.ofAll(addressesOf(templateAddresses(template)));
		return verdict?.state === 'block' ? [{field: 'templateId', message: destinationListed(verdict.list)}] : [];
	};

	return {
		defaultDomain,
		hasDomain: (id) => serves(domains.get(id.toLowerCase())),
		view: (link) => {
			const domain = domainOf(link);
			const template = templateOf(link);
			const addresses = effectiveAddresses([link, template && templateAddresses(template), app]);
			const safety = safetyOf(linkPolicy, {decision: link.decision, changedAt: link.updated_at}, addresses);
			return {link, domain, hostname: serves(domain) ? domain.hostname : null, template, safety};
		},
		apply: (row, input) => {
			const references = {...domainIdOf(input), ...templateIdOf(input)};
			const {channel = null} = input;
			const isUnknown = channel !== null && !channels.has(channel);
			const after = withInput(row, {...input, ...references});
			const lacksPath = after.path === null && (templateOf(after)?.path ?? null) === null;
			const {hostname} = domainOf(after);
			const own = Object.entries(after.destinations ?? {}).map(([name, url]) => [`destinations.${name}`, url]);
			const urls = {
				fallbackUrl: after.fallback_url,
				...Object.fromEntries(own),
				'og.imageUrl': after.og_image_url,
			};
			const others = [
				...(lacksPath ? [pathRequired] : []),
				...blockedTemplate(input.templateId == null ? null : templateOf(after)),
				...(hostname === null ? [] : loopFaults(hostname, urls)),
			];
			if (isUnknown && others.length === 0) {
				throw unknownChannel(channel);
			}

			if (others.length > 0) {
				throw validationFailed(isUnknown ? [...(unknownChannel(channel).details ?? []), ...others] : others);
			}

			return after;
		},
	};
};

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
	return referencesOf(owner, {
		domains,
		channels,
		templates,
		hasCustomDomains: hasFeature(services, owner, 'custom_domains'),
		app,
		linkPolicy,
	});
};
