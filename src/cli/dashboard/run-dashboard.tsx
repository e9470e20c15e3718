import {stripVTControlCharacters} from 'node:util';
import {renderToString} from 'ink';
import {InterruptedError} from '../cli-errors.ts';
import type {Context} from '../command.ts';
import {createConnection} from '../server/connection.ts';
import {organizationPath} from '../server/link-surface.ts';
import {type Ink, inkOf} from '../terminal/charts.ts';
import type {Io} from '../terminal/io.ts';
import {DashboardScreen} from './dashboard-screen.tsx';
import {createFigures, createIntake, type RecentAnswer} from './figures.ts';
import {follow, type Link, readEvents} from './follow.ts';
import {type Size, showLive} from './live-screen.ts';
import type {Status, View} from './view.ts';

const SECONDS_BETWEEN_CHECKS = 5;
const PRINTED_ROWS = 33;
const MIN_COLUMNS = 60;

/** The conventional exit code for SIGTERM. */
const TERMINATED = 143;

/** Whether keys can be read and a screen drawn. NO_COLOR disables colours, not the screen. */
const isLive = ({stdin, stdout, env}: Io): boolean =>
	stdin.isTTY === true && stdout.isTTY === true && stdout.columns !== 0 && inkOf(env) === 'blocks';

type Target = {server: string; scope: string; timezone: string; query: {orgId?: string}; status: Status};

const findTarget = async ({connection}: Context, named: string | undefined): Promise<Target> => {
	const client = connection.admin();
	const status = await client.get<Status>('/admin/status');
	const target = {
		server: client.baseUrl,
		timezone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
		status,
	};
	if (named === undefined) {
		return {...target, scope: 'All organizations', query: {}};
	}

	const {id, name, orgKey} = await client.get<{id: string; name: string; orgKey: string}>(organizationPath(named));
	return {...target, scope: `${name} (${orgKey})`, query: {orgId: id}};
};

/** The picture as text: lines without trailing spaces, and without styles unless they are wanted. */
export const pictureOf = (view: View, {isStyled, ink}: {isStyled: boolean; ink: Ink}, size: Size): string => {
	const picture = renderToString(<DashboardScreen view={view} ink={ink} {...size} />, {columns: size.columns});
	return (isStyled ? picture : stripVTControlCharacters(picture))
		.split('\n')
		.map((line) => line.trimEnd())
		.join('\n');
};

const printOnce = async ({connection, show}: Context, {query, status, ...target}: Target, ink: Ink): Promise<void> => {
	for await (const {type, data} of readEvents(connection.admin().stream('/admin/clicks/stream', query))) {
		if (type === 'recent') {
			const recent = JSON.parse(data) as RecentAnswer;
			await show.answer({status, recent}, () => {
				const figures = createFigures(() => 0);
				figures.begin(recent);
				const view: View = {...target, status, figures: figures.read(), link: null};
				const size = {columns: Math.max(MIN_COLUMNS, show.width), rows: PRINTED_ROWS};
				return pictureOf(view, {isStyled: false, ink}, size).trimEnd();
			});
			return;
		}
	}
};

const watch = async ({io, options}: Context, {query, ...target}: Target, ink: Ink): Promise<number> => {
	const left = new AbortController();
	const signal = AbortSignal.any([left.signal, io.interruption]);
	const figures = createFigures(() => performance.now());
	const isStyled = !io.env['NO_COLOR'];
	let link: Link = {state: 'connecting'};
	let status: Status | null = target.status;
	let failure: unknown = null;
	const check = async () => {
		status = await createConnection(options, {...io, interruption: signal})
			.admin()
			.get<Status>('/admin/status')
			.catch(() => null);
	};
	const stopChecks = io.every(SECONDS_BETWEEN_CHECKS, () => void check());
	const take = createIntake(figures);
	const following = (async () => {
		for await (const step of follow({io, options}, query, signal)) {
			link = step.link;
			if (step.event !== undefined) {
				take(step.event);
			}
		}
	})().catch((error: unknown) => {
		failure = error;
		left.abort();
	});
	const leaving = await showLive(
		io,
		(size) => {
			const view: View = {...target, status, figures: figures.read(), link};
			return pictureOf(view, {isStyled, ink}, size);
		},
		left.signal,
	).finally(() => {
		stopChecks();
		left.abort();
	});
	await following;
	if (failure !== null) {
		throw failure;
	}

	if (leaving === 'interrupted') {
		throw new InterruptedError();
	}

	return leaving === 'terminated' ? TERMINATED : 0;
};

/** `oplink dashboard`: live on a terminal, else the current figures. @returns the exit code. */
export const runDashboard = async (context: Context, named: string | undefined): Promise<number> => {
	const target = await findTarget(context, named);
	const ink = inkOf(context.io.env);
	if (!context.show.json && isLive(context.io)) {
		return watch(context, target, ink);
	}

	await printOnce(context, target, ink);
	return 0;
};
