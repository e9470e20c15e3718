import Joi from 'joi';
import {answerOf, instant, text, uuid} from '../../platform/http/answer.ts';

/** A channel in the API: a label for links of an organization (contract/links 5). */
export type Channel = {id: string; name: string; createdAt: Date};

/**
 * Letters and digits of any script, and between them spaces and `_ - . : /`. Channels appear in terminals and
 * completions, so they must not look like options or commands or contain control characters.
 */
const name = Joi.string()
	.trim()
	.max(50)
	.pattern(/^[\p{L}\p{N}][\p{L}\p{M}\p{N} _.:/-]*$/u)
	.message('{{#label}} must begin with a letter or digit and consist of letters, digits, spaces, _ - . : and /');

export const newChannel = Joi.object<{name: string}>({name: name.required()});
export const channelChanges = Joi.object<{name?: string}>({name});

/** A channel (contract/links 5). */
export const channelAnswer = answerOf('Channel', {id: uuid, name: text, createdAt: instant});
