import Joi from 'joi';
import {route} from '../../accounts/auth/route.ts';
import {isReadOnly} from '../../platform/db/check-server.ts';
import {migrationStatus} from '../../platform/db/migrate.ts';
import {answerOf, count, instant, oneOf, partOf, text, type ValueOf} from '../../platform/http/answer.ts';
import {reply} from '../../platform/http/route.ts';
import type {Services} from '../../services.ts';

const state = oneOf('ok', 'unavailable', 'pending', 'read-only');
const status = Joi.valid('ok', 'unavailable');
const checks = partOf({database: state, migrations: state, redis: state.optional(), clicks: state.optional()});

export const liveAnswer = answerOf('Live', {status: Joi.valid('ok')});
export const readyAnswer = answerOf('Ready', {status, checks});
export const statusAnswer = answerOf('Status', {
	status,
	version: text,
	node: text,
	now: instant,
	uptimeSeconds: count,
	publicUrl: text,
	linkDomain: text,
	checks,
	database: partOf({mode: Joi.valid('embedded', 'external'), version: text}),
	migrations: partOf({applied: count, pending: Joi.array().items(text)}),
	counts: partOf({organizations: count, links: count, clicksThisMonth: count}),
	/** Of the answering process: unwritten bytes of its journal, lost clicks, and clicks that the database rejected. */
	clicks: partOf({waitingBytes: count, lost: count, refused: count}),
});

/** State of a dependency of the service. */
type Check = ValueOf<typeof state>;

type Deps = Pick<Services, 'clicks' | 'config' | 'db' | 'limiter' | 'log'>;
type Readiness = {ready: boolean; checks: Record<'database' | 'migrations', Check> & {redis?: Check; clicks?: Check}};

const checkDatabase = async ({
	db,
	log,
}: Pick<Services, 'db' | 'log'>): Promise<{database: Check; migrations: Check}> => {
	try {
		const pending = (await migrationStatus(db)).some(({appliedAt}) => appliedAt === null);
		return {database: (await isReadOnly(db)) ? 'read-only' : 'ok', migrations: pending ? 'pending' : 'ok'};
	} catch (error) {
		log.debug({err: error}, 'the database did not answer a health check');
		return {database: 'unavailable', migrations: 'unavailable'};
	}
};

const checkAnswer = (answer: Promise<void>): Promise<Check> =>
	answer.then(
		() => 'ok',
		() => 'unavailable',
	);

/**
 * The service's dependencies, and whether it can work (contract/requests 11). Redis and ClickHouse are optional: a Redis
 * that is full or read-only answers but cannot decide limits; without ClickHouse the rows of clicks wait.
 */
const check = async (services: Deps): Promise<Readiness> => {
	const {clicks, config, limiter} = services;
	const checks = {
		...(await checkDatabase(services)),
		...(config.redisUrl === null ? {} : {redis: await checkAnswer(limiter.ping())}),
		...(clicks.ping === null ? {} : {clicks: await checkAnswer(clicks.ping())}),
	};
	return {ready: checks.database === 'ok' && checks.migrations === 'ok', checks};
};

const running = new WeakMap<Deps['db'], Promise<Readiness>>();

/** Concurrent callers share a check, because the route is public and has no limit. */
export const checkReadiness = (services: Deps): Promise<Readiness> => {
	const {db} = services;
	const known = running.get(db) ?? check(services).finally(() => running.delete(db));
	running.set(db, known);
	return known;
};

export const healthRoutes = [
	route('GET', '/health/live', {
		summary: 'Check that the process answers',
		answer: liveAnswer,
		credential: 'none',
		handler: () => ({status: 'ok'}),
	}),

	route('GET', '/health/ready', {
		summary: 'Check that the service can work',
		otherAnswers: {503: readyAnswer},
		answer: readyAnswer,
		credential: 'none',
		handler: async ({services}) => {
			const {ready, checks} = await checkReadiness(services);
			const body = {status: ready ? 'ok' : 'unavailable', checks};
			return reply({status: ready ? 200 : 503, body, headers: {'Cache-Control': 'no-store'}});
		},
	}),
];
