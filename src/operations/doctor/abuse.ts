import {DAY_MS} from '../../platform/clock.ts';
import {run, sql} from '../../platform/db/sql.ts';
import type {Services} from '../../services.ts';
import {countOpenReports} from '../../visits/abuse/abuse-report-store.ts';
import {type Finding, findingsOf} from '../finding.ts';

const reports = findingsOf('Reports of links');
const policy = findingsOf('Link policy');

/** Registries act on reports that nobody answers for some days. */
const MAX_OPEN_DAYS = 2;
/** Public lists change daily; hosts on an old one have moved on. */
const MAX_LIST_DAYS = 30;

type Deps = Pick<Services, 'addresses' | 'clock' | 'config' | 'db' | 'linkPolicy'>;

/** Warns of reports that nobody has closed for two days. Nothing without ABUSE_CONTACT, unless some are open. */
export const checkReports = async ({clock, config, db}: Deps): Promise<Finding[]> => {
	const {open, oldestAt} = await countOpenReports(db);
	if (oldestAt === null) {
		return config.abuseContact === null ? [] : [reports.ok('abuse.reports', 'none is open')];
	}

	const isOld = clock.now().getTime() - oldestAt.getTime() >= MAX_OPEN_DAYS * DAY_MS;
	const message = `${open} open, the oldest since ${oldestAt.toISOString().slice(0, 10)}`;
	return [reports.warnIf(isOld, 'abuse.reports', message, 'Decide on them: oplink reports list')];
};

/** The lists of LINK_POLICY_FILE: whether their files can be used, and how old they are. Nothing without them. */
export const checkLists = ({linkPolicy, clock}: Pick<Deps, 'linkPolicy' | 'clock'>): Finding[] => {
	const now = clock.now().getTime();
	const remedy = 'Fetch the file again, and replace it with mv';
	const faults = linkPolicy
		.faults()
		.map((fault) => policy.fail('abuse.lists', `${fault}; its former contents are in use`, remedy));
	const ages = linkPolicy.lists().map(({name, entries, since, fault}) => {
		const message = `the list ${name} has ${entries.toLocaleString('en')} entries, of ${since.toISOString().slice(0, 10)}`;
		const isOld = now - since.getTime() > MAX_LIST_DAYS * DAY_MS;
		const next = 'Fetch the list again, for example daily by a timer';
		return policy.warnIf(isOld && fault === null, 'abuse.list-age', message, next);
	});
	return [...faults, ...ages];
};

/** Fails for each host of ours that is on a list: LINK_DOMAIN, its aliases, and verified custom domains. */
export const checkListedHosts = async ({addresses, db, linkPolicy}: Deps): Promise<Finding[]> => {
	if (linkPolicy.isEmpty) {
		return [];
	}

	const custom = await run<{hostname: string}>(
		db,
		sql`SELECT hostname FROM domains WHERE status = 'VERIFIED' AND hostname IS NOT NULL ORDER BY hostname`,
	);
	const hosts = [addresses.linkDomain, ...addresses.aliases, ...custom.map(({hostname}) => hostname)];
	return hosts.flatMap((host) => {
		const verdict = linkPolicy.of(`https://${host}/`);
		return verdict === null
			? []
			: [
					policy.fail(
						'abuse.listed-host',
						`the link host ${host} is on the list ${verdict.list}: browsers may warn of its links`,
						'Block the links that led to it, then ask the publisher of the list to remove the host',
					),
				];
	});
};
