import {type CommandGroup, command} from '../command.ts';
import {findProfile, readProfiles, saveProfiles, withoutProfile} from '../server/profiles.ts';

export const profileCommands: CommandGroup = {
	name: 'profiles',
	summary: 'Manage saved servers',
	commands: [
		command({
			usage: 'list',
			summary: 'List the saved profiles, without their tokens',
			examples: ['list'],
			run: async ({io, show}) => {
				const {current, byName} = readProfiles(io.env);
				const rows = [...byName.values()].map(({name, url}) => ({name, url, current: name === current}));
				await show.answer(rows, () =>
					show.table(
						[
							{title: 'PROFILE', value: ({name}) => name},
							{title: 'URL', value: ({url}) => url, flexible: true},
							{title: 'IN USE', value: (row) => row.current},
						],
						rows,
					),
				);
				if (rows.length === 0) {
					await show.note('There is no profile yet; oplink login creates one');
				}
			},
		}),

		command({
			usage: 'use <profile>',
			summary: 'Use this profile when no server is given',
			examples: ['use production'],
			run: async ({io, show}, name: string) => {
				const profiles = readProfiles(io.env);
				const {url} = findProfile(profiles, name);
				saveProfiles(io.env, {...profiles, current: name});
				await show.answer({name, url, current: true}, () => `Using profile '${name}': ${url}`);
			},
		}),

		command({
			usage: 'remove <profile>',
			summary: 'Forget a profile',
			examples: ['remove staging'],
			run: async ({io, show}, name: string) => {
				saveProfiles(io.env, withoutProfile(readProfiles(io.env), name));
				await show.answer({name, removed: true}, () => `Forgot profile '${name}'`);
			},
		}),
	],
};
