import {Box, Text} from 'ink';
import type {ReactNode} from 'react';
import {counted} from '../../platform/text.ts';
import {AXIS_WIDTH, bar, columnChart, compact, type Ink} from '../terminal/charts.ts';
import {cellText} from '../terminal/output.ts';
import type {Ranked} from './figures.ts';
import {healthText, isHealthy, latestLine, layoutOf, linkText, timeText, type View, versionText} from './view.ts';

/** Text at both ends of a line; the left one is truncated. */
const Ends = ({left, right}: {left: ReactNode; right: ReactNode}) => (
	<Box justifyContent="space-between" columnGap={2}>
		<Box flexShrink={1}>
			<Text wrap="truncate">{left}</Text>
		</Box>
		<Box flexShrink={0}>
			<Text wrap="truncate">{right}</Text>
		</Box>
	</Box>
);

const Header = ({view}: {view: View}) => {
	const {link, status, figures, timezone} = view;
	const time = timeText(figures.now, timezone);
	return (
		<>
			<Ends
				left={
					<>
						<Text bold>{cellText(view.scope)}</Text>
						{'  '}
						<Text dimColor>{view.server}</Text>
					</>
				}
				right={
					link === null ? (
						`at ${time}`
					) : (
						<>
							<Text color={link.state === 'live' ? 'green' : 'yellow'}>
								{link.state === 'live' ? '●' : '○'} {linkText(link)}
							</Text>{' '}
							{time}
						</>
					)
				}
			/>
			<Ends
				left={<Text color={isHealthy(status) ? 'green' : 'yellow'}>{healthText(status)}</Text>}
				right={<Text dimColor>{status === null ? '' : versionText(status)}</Text>}
			/>
		</>
	);
};

type ChartProps = {
	title: string;
	figure: string;
	values: number[];
	width: number;
	height: number;
	/** The headings of the first column and the last one. */
	ends: (shown: number) => [from: string, to: string];
	ink: Ink;
	color: string;
};

const Chart = ({title, figure, values, width, height, ends, ink, color}: ChartProps) => {
	const shown = values.slice(-(width - AXIS_WIDTH));
	const [from, to] = ends(shown.length);
	const lines = columnChart(shown, {width, height, ink, from, to});
	return (
		<Box flexDirection="column" width={width}>
			<Text wrap="truncate">
				<Text bold>{title}</Text> {figure}
			</Text>
			<Text color={color}>{lines.slice(0, height).join('\n')}</Text>
			<Text dimColor>{lines.slice(height).join('\n')}</Text>
		</Box>
	);
};

type RankingProps = {title: string; rows: Ranked[]; width: number; lines: number; ink: Ink; hasBars?: boolean};

const COUNT_WIDTH = 4;
const BAR_SHARE = 0.3;

const Ranking = ({title, rows, width, lines, ink, hasBars = false}: RankingProps) => {
	const most = rows[0]?.count ?? 0;
	const barWidth = hasBars ? Math.floor(width * BAR_SHARE) : 0;
	return (
		<Box flexDirection="column" width={width} height={lines + 1}>
			<Text wrap="truncate" bold>
				{title}
			</Text>
			{rows.slice(0, lines).map(({name, count}, index) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: a line is its rank
				<Box key={index} columnGap={1}>
					<Box flexGrow={1} flexShrink={1} flexBasis={0}>
						<Text wrap="truncate">{cellText(name)}</Text>
					</Box>
					<Box width={COUNT_WIDTH} flexShrink={0} justifyContent="flex-end">
						<Text>{compact(count)}</Text>
					</Box>
					{hasBars ? (
						<Box width={barWidth} flexShrink={0}>
							<Text color="green">{bar(count, most, barWidth, ink)}</Text>
						</Box>
					) : null}
				</Box>
			))}
			{rows.length === 0 ? <Text dimColor>none</Text> : null}
		</Box>
	);
};

const TIME_WIDTH = 8;
const KIND_WIDTH = 7;

const Latest = ({view, width, lines}: {view: View; width: number; lines: number}) => (
	<Box flexDirection="column" height={lines + 1}>
		<Text bold>LAST EVENTS</Text>
		{view.figures.latest.slice(0, lines).map((event) => {
			const {kind, subject, details} = latestLine(event);
			return (
				<Box key={event.data.id} columnGap={2}>
					<Box width={TIME_WIDTH} flexShrink={0}>
						<Text dimColor>{timeText(Date.parse(event.data.at), view.timezone)}</Text>
					</Box>
					<Box width={KIND_WIDTH} flexShrink={0}>
						<Text>{kind}</Text>
					</Box>
					<Box flexGrow={1} flexShrink={1} flexBasis={0}>
						<Text wrap="truncate">{subject}</Text>
					</Box>
					<Box width={Math.floor(width / 3)} flexShrink={0}>
						<Text wrap="truncate">{details}</Text>
					</Box>
				</Box>
			);
		})}
		{view.figures.latest.length === 0 ? <Text dimColor>none yet</Text> : null}
	</Box>
);

const footerText = ({figures, link}: View): string =>
	[
		...(link === null ? [] : ['q quits']),
		...(link?.state === 'waiting' ? [link.reason] : []),
		...(figures.lost > 0 ? [`dropped ${counted(figures.lost, 'event')}, which arrived too fast to be processed`] : []),
	].join('   ');

/** The whole screen: at most `columns` by `rows`, and always `rows` lines if they suffice. */
export const DashboardScreen = ({view, columns, rows, ink}: {view: View; columns: number; rows: number; ink: Ink}) => {
	const layout = layoutOf(columns, rows);
	const {figures, timezone} = view;
	const rate = `${compact(figures.rate)} now`;
	if (layout.isTooSmall) {
		return (
			<Box flexDirection="column" width={columns}>
				<Text wrap="truncate">{`${rate}, ${compact(figures.lastMinute)} in the last minute`}</Text>
				<Text wrap="truncate">60 by 18 are needed; q quits</Text>
			</Box>
		);
	}

	const size = {width: layout.half, height: layout.chart, ink};
	const isTroubled = figures.lost > 0 || view.link?.state === 'waiting';
	return (
		<Box flexDirection="column" width={columns} height={rows} paddingX={1}>
			<Header view={view} />
			<Box marginTop={1} columnGap={2}>
				<Chart
					title="CLICKS PER SECOND"
					figure={rate}
					values={figures.perSecond}
					ends={(shown) => [`-${shown}s`, 'now']}
					color="green"
					{...size}
				/>
				<Chart
					title="CLICKS PER MINUTE"
					figure={`${compact(figures.lastMinute)} in the last 60s`}
					values={figures.perMinute}
					ends={(shown) => [
						timeText(figures.now && figures.now - (shown - 1) * 60_000, timezone, {seconds: false}),
						timeText(figures.now, timezone, {seconds: false}),
					]}
					color="cyan"
					{...size}
				/>
			</Box>
			<Box marginTop={1} columnGap={2}>
				<Ranking
					title={`TOP LINKS since ${timeText(figures.since, timezone, {seconds: false})}`}
					rows={figures.links}
					width={layout.links}
					lines={layout.tops}
					ink={ink}
					hasBars
				/>
				<Ranking title="PLATFORMS" rows={figures.platforms} width={layout.side} lines={layout.tops} ink={ink} />
				<Ranking title="MATCHES" rows={figures.matches} width={layout.side} lines={layout.tops} ink={ink} />
			</Box>
			<Box marginTop={1} flexDirection="column">
				<Latest view={view} width={layout.width} lines={layout.latest} />
			</Box>
			<Text wrap="truncate" {...(isTroubled ? {color: 'yellow'} : {dimColor: true})}>
				{footerText(view)}
			</Text>
		</Box>
	);
};
