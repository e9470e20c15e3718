import {type Entitled, hasFeature} from '../../accounts/plans/entitlements.ts';
import {appleAppSiteAssociation, assetLinks} from '../../links/app-config/association-files.ts';
import {
	androidAppsOf,
	iosAppsOf,
	listSharedAndroidApps,
	sharedIosAppsOf,
} from '../../links/app-config/configured-apps.ts';
import {isVerifiedHostname} from '../../links/domains/domain-store.ts';
import {unknownCodesHost} from '../../links/domains/unknown-code.ts';
import {linkBases} from '../../platform/config/config.ts';
import type {Db} from '../../platform/db/db.ts';
import {run, sql} from '../../platform/db/sql.ts';
import {flag, listOf, partOf, text, textOrNull, type ValueOf} from '../../platform/http/answer.ts';
import type {Services} from '../../services.ts';
import {type Finding, findingsOf, present} from '../finding.ts';
import {androidEntries, appleEntries} from './association-entries.ts';

/** A link host with the expected contents of its association files. */
export const linkHostAnswer = partOf({
	/** Scheme and host, with the port unless it is the default. */
	url: text,
	/** Its organization; null for the shared link domain. */
	orgKey: textOrNull,
	/** Whether the files may contain more: those of the shared domain, if only some organizations are examined. */
	isPart: flag,
	apple: listOf(text),
	android: listOf(text),
});
export type LinkHost = ValueOf<typeof linkHostAnswer>;

type Owner = {organizationId: string; orgKey: string};
type Row = Owner & Entitled & {hostname: string; unknownCodesUrl: string | null};

/** The link hosts, and findings for domains that are not served. */
export type LinkHosts = {hosts: LinkHost[]; findings: Finding[]};

/** Custom domains per report: each is checked from outside, which takes seconds if it does not answer. */
const MAX_CUSTOM_HOSTS = 1000;

/** Verified domains of active organizations, of all or the named ones, up to the report's limit. */
const verifiedDomains = (db: Db, organizationIds: readonly string[] | null): Promise<Row[]> =>
	run(
		db,
		sql`SELECT organization_id AS "organizationId", org_key AS "orgKey", hostname, unknown_codes_url AS "unknownCodesUrl",
			plan, entitled_until AS "entitledUntil"
		FROM domains JOIN organizations ON organizations.id = organization_id
		WHERE domains.status = 'VERIFIED' AND organizations.status = 'ACTIVE'
			${organizationIds === null ? sql`` : sql`AND organizations.id = ANY(${organizationIds})`}
		ORDER BY hostname LIMIT ${MAX_CUSTOM_HOSTS}`,
	);

const customHost = async (db: Db, {organizationId, orgKey, hostname}: Row): Promise<LinkHost> => ({
	url: `https://${hostname}`,
	orgKey,
	isPart: false,
	apple: appleEntries(appleAppSiteAssociation(await iosAppsOf(db, organizationId), {customDomain: true})),
	android: androidEntries(assetLinks(await androidAppsOf(db, organizationId), {customDomain: true})),
});

const sharedHosts = async (
	{db, addresses, associationCache, config}: Pick<Services, 'db' | 'addresses' | 'associationCache' | 'config'>,
	organizationIds: readonly string[] | null,
): Promise<LinkHost[]> => {
	const {apple, android} = await associationCache.shared();
	const [appleFile, androidFile] =
		organizationIds === null
			? [JSON.parse(apple ?? '{}'), JSON.parse(android ?? '[]')]
			: [
					appleAppSiteAssociation(await sharedIosAppsOf(db, organizationIds)),
					assetLinks(await listSharedAndroidApps(db, Object.keys(config.plans), organizationIds)),
				];
	return linkBases(addresses).map((url) => ({
		url,
		orgKey: null,
		isPart: organizationIds !== null,
		apple: appleEntries(appleFile),
		android: androidEntries(androidFile),
	}));
};

/** Warns if a report has reached its limit of custom domains. */
const checkNumber = (rows: readonly Row[]): Finding[] =>
	present([
		rows.length === MAX_CUSTOM_HOSTS &&
			findingsOf('Domains').warn(
				'domains.number',
				`${MAX_CUSTOM_HOSTS} custom domains are checked, in alphabetical order`,
				'Name organizations: oplink doctor Ab12',
			),
	]);

/** A cancelled plan is not the server's fault, so only a report on that organization warns of it. */
const withoutPlan = ({hostname, orgKey}: Row, isNamed: boolean): Finding =>
	findingsOf(`Domain ${hostname} of ${orgKey}`).warnIf(
		isNamed,
		'host.plan',
		'it is verified but not served: the plan of its organization lacks custom_domains',
		`Set a plan that has custom_domains (oplink plan set --org ${orgKey} PLAN), or remove the domain`,
	);

/** Unknown codes must leave the service: a target that has become a link host here since is not used. */
const checkUnknownCodes = async (
	{db, hostRoles}: Pick<Services, 'db' | 'hostRoles'>,
	{hostname, orgKey, unknownCodesUrl}: Row,
): Promise<Finding[]> => {
	const target = unknownCodesUrl === null ? null : unknownCodesHost(unknownCodesUrl);
	if (target === null || (hostRoles.roleOf(target) === 'other' && !(await isVerifiedHostname(db, target)))) {
		return [];
	}

	const {warn} = findingsOf(`Domain ${hostname} of ${orgKey}`);
	return [
		warn(
			'host.unknown-codes',
			`its unknown codes are 404: they would go on to ${target}, which is a link host of this server`,
			`Lead them elsewhere: oplink domains set ${orgKey} ${hostname} --unknown-codes URL, or --clear unknownCodes`,
		),
	];
};

/**
 * The shared link domain and the served custom domains; findings for the others.
 * @param organizationIds null for all.
 */
export const listLinkHosts = async (
	services: Pick<Services, 'addresses' | 'associationCache' | 'clock' | 'config' | 'db' | 'hostRoles' | 'log'>,
	organizationIds: readonly string[] | null,
): Promise<LinkHosts> => {
	const hosts = await sharedHosts(services, organizationIds);
	const rows = await verifiedDomains(services.db, organizationIds);
	const findings = checkNumber(rows);
	// One at a time, because other requests share the pool.
	for (const row of rows) {
		if (hasFeature(services, row, 'custom_domains')) {
			hosts.push(await customHost(services.db, row));
			findings.push(...(await checkUnknownCodes(services, row)));
		} else {
			findings.push(withoutPlan(row, organizationIds !== null));
		}
	}

	return {hosts, findings};
};
