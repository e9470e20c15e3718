import {environmentTopic} from './environment.ts';
import {exitCodesTopic} from './exit-codes.ts';
import {formattingTopic} from './formatting.ts';

export type Topic = {name: string; summary: string; text: string};

/** Help topics, shown by `oplink help NAME`. */
export const topics: readonly Topic[] = [
	{name: 'environment', summary: 'environment variables of the CLI and the server', text: environmentTopic},
	{name: 'exit-codes', summary: 'exit codes and their meanings', text: exitCodesTopic},
	{name: 'formatting', summary: 'output for people and for programs', text: formattingTopic},
];
