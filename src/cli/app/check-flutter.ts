import {type Finding, findingsOf} from '../../doctor/finding.ts';
import {type Located, type Place, placeText} from './located.ts';

const {ok, fail} = findingsOf('Flutter');

/** A switch of Flutter's own link handling, in one of the two files. */
export type FlutterSwitch = {name: string; found: Located | null; place: Place};

/**
 * Both must be off: otherwise Flutter opens a link as a route of its own, beside the plugin that reads it. Recent
 * versions have it on by default.
 */
export const checkFlutter = (switches: readonly FlutterSwitch[]): Finding[] =>
	switches.map(({name, found, place}) => {
		const at = placeText(found?.place ?? place);
		return found?.text === 'false'
			? ok('flutter.switch', `${name} is false (${at})`)
			: fail(
					'flutter.switch',
					`${name} is ${found === null ? 'missing' : found.text}: Flutter opens links itself, beside the plugin (${at})`,
					`Set ${name} to false`,
				);
	});
