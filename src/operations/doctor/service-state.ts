import {createApiKeyStore} from '../../accounts/api-keys/api-key-store.ts';
import {createDisplayKeyCipher, otherSecret} from '../../accounts/api-keys/display-key-cipher.ts';
import {APPLE_LIMIT_BYTES, APPLE_WARNING_BYTES} from '../../links/app-config/association-files.ts';
import {DAY_MS} from '../../platform/clock.ts';
import {APP_LINKS} from '../../platform/config/plans.ts';
import {daysBefore} from '../../platform/config/policies.ts';
import {run, sql} from '../../platform/db/sql.ts';
import {listRefused, type RefusalCount} from '../../platform/limits/refusals.ts';
import {counted} from '../../platform/text.ts';
import type {Services} from '../../services.ts';
import {countGraded, findDoubtful} from '../../visits/matches/guess-grades.ts';
import {matchPolicy} from '../../visits/matches/match-policy.ts';
import {type Finding, findingsOf, present} from '../finding.ts';
import {findOverdueTables} from '../jobs/retention.ts';

const keys = findingsOf('API keys');
const matches = findingsOf('Matches');
const limits = findingsOf('Limits');
const storage = findingsOf('Retention');
const webhooks = findingsOf('Webhooks');
const files = findingsOf('Association files');
const configuration = findingsOf('Configuration');
const geoip = findingsOf('Countries');

/** The oldest keys are the ones encrypted with a previous secret. */
const MAX_KEYS = 1000;

/** Checks whether stored display keys can be decrypted with the current secret. */
export const checkKeptKeys = async ({db, config, log}: Pick<Services, 'db' | 'config' | 'log'>): Promise<Finding[]> => {
	// Without logging: the finding reports it once.
	const cipher = createDisplayKeyCipher(config.keySecret, log.child({}, {level: 'silent'}));
	const kept = await createApiKeyStore(db).listDisplayKeys(MAX_KEYS);
	const unreadable = kept.filter((stored) => cipher.open(stored) === null).length;
	return [
		unreadable === 0
			? keys.ok('keys.readable', 'keys can be shown')
			: keys.warn('keys.readable', `${unreadable} of ${kept.length}: the key ${otherSecret.fault}`, otherSecret.remedy),
	];
};

const GUESS_DAYS = 30;
/** With fewer graded guesses, two wrong ones would already be too many. */
const MIN_GRADED = 200;

/** The message without a doubtful organization; guesses that no token graded are not judged. */
const guessesText = ({graded, judged}: {graded: number; judged: number}): string => {
	if (graded === 0) {
		return `no token proved or disproved a guess with high confidence in ${GUESS_DAYS} days`;
	}

	return judged === 0
		? `of guesses with high confidence ${graded} were graded in ${GUESS_DAYS} days; ${MIN_GRADED} of an organization are judged`
		: `guesses with high confidence are as often right as they say: ${judged} graded in ${GUESS_DAYS} days`;
};

/** Compares the confidence of `high` guesses with the share that tokens proved right. */
export const checkGuesses = async ({db, clock}: Pick<Services, 'db' | 'clock'>): Promise<Finding[]> => {
	const share = matchPolicy.confidence.find(({level}) => level === 'high')?.from ?? 1;
	const since = daysBefore(clock.now(), GUESS_DAYS);
	const doubtful = await findDoubtful(db, {since, least: MIN_GRADED, share});
	return doubtful.length === 0
		? [matches.ok('matches.high', guessesText(await countGraded(db, {since, least: MIN_GRADED})))]
		: doubtful.map(({orgKey, graded, correct}) =>
				matches.warn(
					'matches.high',
					`${orgKey}: of ${graded} guesses with high confidence that a token proved in ${GUESS_DAYS} days, ${correct} were right`,
					"Send the CLIENT key with POST /match, and accept 'exact' alone for what must not be wrong",
				),
			);
};

const MAX_REFUSED = 10;

/** The name of the limit or quota, and the remedy. */
const refusalText = ({plan, limitName}: RefusalCount): {name: string; next: string} => {
	const named = plan ?? 'a plan';
	return limitName === APP_LINKS
		? {
				name: `quota ${APP_LINKS}`,
				next: `Delete links that apps made, or set appLinkShare of ${named} in PLANS_FILE; make a new CLIENT key if it is misused`,
			}
		: {
				name: `limit ${limitName}`,
				next: `Send fewer requests, or set limits.${limitName} of ${named} in PLANS_FILE`,
			};
};

/**
 * Names the organizations that limits of their keys, or the share of apps in their links, refused most in the last day; no
 * finding if there were none.
 */
export const checkRefusals = async ({
	db,
	clock,
	refusals,
}: Pick<Services, 'db' | 'clock' | 'refusals'>): Promise<Finding[]> => {
	await refusals.settled();
	return (await listRefused(db, clock.now(), MAX_REFUSED)).map((row) => {
		const {name, next} = refusalText(row);
		const {orgKey, refused} = row;
		return limits.warn(
			'limits.refused',
			`${orgKey}: the ${name} refused ${counted(refused, 'request')} in the last day`,
			next,
		);
	});
};

/** Warns of rows that outlived their retention by a day; no finding without one. */
export const checkRetention = async ({db, clock}: Pick<Services, 'db' | 'clock'>): Promise<Finding[]> => {
	const tables = await findOverdueTables(db, clock.now());
	return present([
		tables.length !== 0 &&
			storage.warn(
				'retention.overdue',
				`rows outlived their retention by a day in ${tables.join(', ')}`,
				'Look for failures of the jobs forget_… in the log of the server',
			),
	]);
};

type WebhookDeps = Pick<Services, 'config' | 'db' | 'figuresOfAll' | 'metrics'>;

/** Endpoints that were disabled because every delivery failed. */
const findDisabled = async ({db}: WebhookDeps): Promise<Finding[]> => {
	const rows = await run<{orgKey: string; id: string; url: string; reason: string}>(
		db,
		sql`SELECT org_key AS "orgKey", webhook_endpoints.id, url, disabled_reason AS reason
		FROM webhook_endpoints JOIN organizations ON organizations.id = organization_id
		WHERE NOT enabled AND disabled_reason IS NOT NULL ORDER BY org_key, webhook_endpoints.created_at LIMIT 10`,
	);
	return rows.map(({orgKey, id, url, reason}) =>
		webhooks.warn(
			'webhooks.disabled',
			`${orgKey}: the endpoint ${url} was disabled. ${reason}`,
			`Correct the receiver, then run oplink endpoints update ${orgKey} ${id} --enable`,
		),
	);
};

/** Attempts that do not end, in any process of this machine. */
const findOverdue = async ({figuresOfAll, metrics}: WebhookDeps): Promise<Finding[]> => {
	const figures = await (figuresOfAll?.() ?? metrics.registry.getMetricsAsJSON());
	const overdue = figures.find(({name}) => name === 'oplink_webhook_attempts_overdue')?.values[0]?.value ?? 0;
	return present([
		overdue !== 0 &&
			webhooks.warn(
				'webhooks.overdue',
				`attempts to send a webhook that have not ended for a minute: ${overdue}; others took their slots`,
				'Restart the server, and report the endpoints that its log names',
			),
	]);
};

/** Endpoints on this machine are for development, where organizations trust each other. */
const findLocal = async ({config, db}: WebhookDeps): Promise<Finding[]> => {
	const organizations = config.nodeEnv === 'production' ? [] : await db('organizations').limit(2).select('id');
	return present([
		organizations.length >= 2 &&
			webhooks.warn(
				'webhooks.local',
				'each organization may send webhooks to any port of this machine and see the answers',
				'Set NODE_ENV=production, unless you trust every organization with this machine',
			),
	]);
};

/** Faults of webhooks; no finding without one. */
export const checkWebhooks = async (services: WebhookDeps): Promise<Finding[]> =>
	(await Promise.all([findDisabled, findOverdue, findLocal].map((find) => find(services)))).flat();

const ROOM_NEXT =
	'Have organizations with a plan that has custom_domains add a domain of their own; then remove their apps from the shared domain';

/** Free room in the shared link domain's iOS file, which Apple reads up to a limit. */
export const checkAssociationRoom = async ({
	associationCache,
}: Pick<Services, 'associationCache'>): Promise<Finding[]> => {
	await associationCache.shared();
	const {apps, waiting, appleBytes} = associationCache.figures();
	const used = `${appleBytes.toLocaleString('en')} of ${counted(APPLE_LIMIT_BYTES, 'byte')} with ${counted(apps, 'iOS app')}`;
	if (waiting > 0) {
		return [
			files.warn('association.room', `${used}; no room is left for ${counted(waiting, 'organization')}`, ROOM_NEXT),
		];
	}

	const isNearlyFull = appleBytes >= APPLE_WARNING_BYTES;
	const message = `${used}${isNearlyFull ? ': more organizations will be refused when it is full' : ''}`;
	return [files.warnIf(isNearlyFull, 'association.room', message, ROOM_NEXT)];
};

/** Warns of files that this process read and that have become unusable since. */
export const checkRereadFiles = ({
	countries,
	relayRanges,
}: {[Name in 'countries' | 'relayRanges']: Pick<Services[Name], 'fault'>}): Finding[] =>
	[
		{variable: 'GEOIP_FILE', fault: countries.fault()},
		{variable: 'RELAY_RANGES_FILE', fault: relayRanges.fault()},
	]
		.filter(({fault}) => fault !== null)
		.map(({variable, fault}) =>
			configuration.warn(
				'configuration.file',
				`${variable} cannot be used now (${fault}); its former contents are in use, and the next start ends with 78`,
				'Replace the file by a whole one with mv; the server reads it within a minute',
			),
		);

/** Networks move from country to country; the files are published at least monthly. */
const MAX_GEOIP_DAYS = 60;

/** Checks the age of GEOIP_FILE. @param built null without a file, which needs none. */
export const checkCountries = (built: Date | null, now: Date): Finding[] => {
	if (built === null) {
		return [];
	}

	const message = `GEOIP_FILE is of ${built.toISOString().slice(0, 10)}`;
	const isOld = now.getTime() - built.getTime() > MAX_GEOIP_DAYS * DAY_MS;
	const next = 'Replace the file by a newer one; the server reads it within a minute';
	return [geoip.warnIf(isOld, 'countries.age', message, next)];
};
