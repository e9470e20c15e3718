import {render, Text} from 'ink';
import {type ProgressFigures, progressText} from './import-progress.ts';
import type {Io} from './io.ts';

const CELLS = 30;
const SECONDS_BETWEEN_FRAMES = 0.1;

/** A bar as long as what is done, where that is known, and the figures beside it. */
export const ProgressBar = ({figures}: {figures: ProgressFigures}) => {
	const done = figures.fraction === null ? null : Math.round(figures.fraction * CELLS);
	return (
		<Text>
			{done === null ? null : (
				<>
					<Text color="green">{'█'.repeat(done)}</Text>
					<Text dimColor>{'░'.repeat(CELLS - done)}</Text>{' '}
				</>
			)}
			{progressText(figures)}
		</Text>
	);
};

/** Draws the bar on stderr again and again until the function it gives back is called. */
export const showProgressBar = (io: Io, figures: () => ProgressFigures): (() => void) => {
	const screen = render(<ProgressBar figures={figures()} />, {
		stdin: io.stdin as NodeJS.ReadStream,
		stdout: io.stderr as NodeJS.WriteStream,
		exitOnCtrlC: false,
		patchConsole: false,
	});
	const draw = () => screen.rerender(<ProgressBar figures={figures()} />);
	const stop = io.every(SECONDS_BETWEEN_FRAMES, draw);
	return () => {
		stop();
		draw();
		screen.unmount();
	};
};
