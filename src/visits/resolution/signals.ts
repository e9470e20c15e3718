import {execute} from '../../platform/db/sql.ts';
import {readJsonBody} from '../../platform/http/body.ts';
import {fieldsOf} from '../../platform/http/untrusted-json.ts';
import type {Services} from '../../services.ts';
import {addSignals} from '../matches/match-clicks.ts';
import type {RawSignals} from '../matches/match-signals.ts';
import {clickIdOfToken, type MatchToken, readMatchToken} from '../matches/open-match.ts';
import {androidVersion} from '../visit/user-agent.ts';
import type {Visit} from '../visit/visit.ts';
import {readLanguage, readTimezone, visitorOf} from '../visit/visitor.ts';

const BODY_LIMIT = 2048;
/** How long after its click a page may send its signals. */
const ACCEPTED_MS = 60_000;

/** The time from which clicks may still change by signals. Clocks of machines differ, and a request takes its time. */
export const changingFrom = (now: Date): Date => new Date(now.getTime() - ACCEPTED_MS - 5000);

const TEXT_LIMIT = 100;

const textOf = (value: unknown): string | null =>
	typeof value === 'string' && value.trim() !== '' && value.length <= TEXT_LIMIT && !value.includes('\0')
		? value.trim().toWellFormed()
		: null;

/** The usable signals; null for missing and implausible ones. */
const readSignals = (body: Record<string, unknown>, request: Visit): RawSignals => {
	const visitor = visitorOf(request);
	const {languages, touchPoints} = body;
	const language = textOf(Array.isArray(languages) ? languages[0] : null);
	const platformVersion = textOf(body['platformVersion']);
	// An iPad claims to be a Mac; only its touch screen shows the difference.
	const isTouched = typeof touchPoints === 'number' && touchPoints > 1;
	const isAndroid = visitor.platform === 'android';
	return {
		timezone: readTimezone(textOf(body['timezone']) ?? undefined),
		language: language && readLanguage(language),
		platform:
			visitor.class === 'mac-or-ipad' && typeof touchPoints === 'number' ? (isTouched ? 'ios' : 'desktop') : null,
		deviceModel: isAndroid ? textOf(body['model']) : null,
		osVersion: isAndroid && platformVersion !== null ? androidVersion('', platformVersion) : null,
	};
};

/** Adds the signals to the match of the token, once, and those that reports show to its click. */
const store = async (
	{db, clicks, clock}: Pick<Services, 'db' | 'clicks' | 'clock'>,
	token: MatchToken,
	signals: RawSignals,
): Promise<void> => {
	const now = clock.now();
	await execute(
		db,
		addSignals(
			{id: clickIdOfToken(token), now, since: new Date(now.getTime() - ACCEPTED_MS)},
			signals,
			clicks.statements.addSignals(signals.timezone),
		),
	);
};

/**
 * Stores the script's signals of a page that was just shown (contract/resolution 8), by its token. Known and unknown
 * tokens get the same answer, and so does the page of a link that was blocked meanwhile.
 * @throws 413, 415, 400 for an unreadable body.
 */
export const takeSignals = async (
	services: Pick<Services, 'clickJournal' | 'clicks' | 'clock' | 'db'>,
	visit: Visit,
	isBlocked: boolean,
): Promise<void> => {
	const body = await readJsonBody(visit.stream, {alsoText: true, limit: BODY_LIMIT});
	const fields = fieldsOf(body);
	const token = readMatchToken(fields['token']);
	if (token !== null && !isBlocked) {
		await services.clickJournal.flushed({containing: [clickIdOfToken(token)]});
		await store(services, token, readSignals(fields, visit));
	}
};
