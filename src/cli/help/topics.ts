import {environmentTopic} from './environment.ts';
import {exitCodesTopic} from './exit-codes.ts';
import {formattingTopic} from './formatting.ts';

export type Topic = {name: string; summary: string; text: string};

/** What help tells besides the commands, as `oplink help NAME`. */
export const topics: readonly Topic[] = [
	{name: 'environment', summary: 'variables that the program and the server read', text: environmentTopic},
	{name: 'exit-codes', summary: 'how a command says what became of it', text: exitCodesTopic},
	{name: 'formatting', summary: 'output for people and for programs', text: formattingTopic},
];
