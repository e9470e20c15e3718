import {render, Text} from 'ink';
import type {Io} from './io.ts';
import {type ProgressFigures, progressText} from './progress-text.ts';

const CELLS = 30;
const SECONDS_BETWEEN_FRAMES = 0.1;

/** A progress bar, if the fraction is known, and the figures, on one line of the terminal. */
export const ProgressBar = ({figures, columns = 80}: {figures: ProgressFigures; columns?: number}) => {
	const text = progressText(figures);
	const cells = Math.max(0, Math.min(CELLS, columns - text.length - 2));
	const done = figures.fraction === null ? null : Math.round(figures.fraction * cells);
	return (
		<Text>
			{done === null ? null : (
				<>
					<Text color="green">{'█'.repeat(done)}</Text>
					<Text dimColor>{'░'.repeat(cells - done)}</Text>{' '}
				</>
			)}
			{text}
		</Text>
	);
};

/** Redraws the bar on stderr until the returned function is called. */
export const showProgressBar = (io: Io, figures: () => ProgressFigures): (() => void) => {
	const bar = () => <ProgressBar figures={figures()} columns={io.stderr.columns || 80} />;
	const screen = render(bar(), {
		stdin: io.stdin as NodeJS.ReadStream,
		stdout: io.stderr as NodeJS.WriteStream,
		exitOnCtrlC: false,
		patchConsole: false,
	});
	const draw = () => screen.rerender(bar());
	const stop = io.every(SECONDS_BETWEEN_FRAMES, draw);
	return () => {
		stop();
		draw();
		screen.unmount();
	};
};
