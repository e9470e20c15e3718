import Joi from 'joi';

/** A channel as the API shows it: one of the labels that an organization's links may carry (decisions 4). */
export type Channel = {id: string; name: string; createdAt: Date};

const name = Joi.string().trim().max(50);

export const newChannel = Joi.object<{name: string}>({name: name.required()});
export const channelChanges = Joi.object<{name?: string}>({name});
