import Joi from 'joi';
import {answerOf, flag, partOf, text, textOrNull} from '../http/answer.ts';

const verdict = Joi.valid('ok', 'warn', 'fail');

/** The server's own findings, for `oplink doctor`. */
export const doctorAnswer = answerOf('Diagnosis', {
	status: verdict,
	version: text,
	findings: Joi.array().items(partOf({area: text, check: text, status: verdict, message: text, next: textOrNull})),
	hosts: Joi.array().items(
		partOf({
			url: text,
			orgKey: textOrNull,
			isPart: flag,
			apple: Joi.array().items(text),
			android: Joi.array().items(text),
		}),
	),
});
