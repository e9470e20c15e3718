import {Option} from 'commander';
import type {LinkWithDomain} from '../../client/oplink.ts';
import {type Context, command} from '../command.ts';
import {orgOption} from '../common-options.ts';
import {namedAdminLink} from '../server/named-link.ts';

/** Block and unblock are a POST each, of an operator alone. */
const decision = (verb: 'block' | 'unblock', summary: string, examples: string[], reason: string) =>
	command({
		usage: `${verb} <link>`,
		summary,
		examples,
		options: [orgOption(), new Option('--reason <text>', reason)],
		run: async (context: Context<{reason?: string}>, named: string) => {
			const {client, path, id} = await namedAdminLink(context, named);
			const body = {reason: context.options.reason ?? null};
			const link = await client.post<LinkWithDomain>(`${path}/links/${id}/${verb}`, body);
			await context.show.answer(link, ({url}) => `${verb === 'block' ? 'Blocked' : 'Unblocked'} ${url}`);
		},
	});

export const blockCommand = decision(
	'block',
	'Block a link, which then resolves and matches no more',
	['block https://go.acme.example/Ab12/spring --reason "Phishing of a bank"', 'block spring --org Ab12'],
	'reason in the audit log and the link (max. 500 characters)',
);

export const unblockCommand = decision(
	'unblock',
	'Unblock a link, which no list then blocks again',
	['unblock spring', 'unblock spring --reason "The shop was cleaned"'],
	'reason in the audit log (max. 500 characters)',
);
