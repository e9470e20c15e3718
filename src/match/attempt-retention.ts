import {readFileSync} from 'node:fs';
import path from 'node:path';
import Joi from 'joi';
import {packageRoot} from '../package-root.ts';

/** `config/retention.json`: for how many days it is kept what a request for a match told, and how it was decided. */
export type AttemptRetention = {matchAttemptDays: number};

const schema = Joi.object<AttemptRetention>({matchAttemptDays: Joi.number().integer().min(1).required()}).required();

let shipped: AttemptRetention | null = null;

/** The policy of `config/retention.json`, read at the first use. @throws with every fault of the file. */
export const attemptRetention = (): AttemptRetention => {
	shipped ??= Joi.attempt(
		JSON.parse(readFileSync(path.join(packageRoot, 'config', 'retention.json'), 'utf8')),
		schema,
	) as AttemptRetention;
	return shipped;
};
