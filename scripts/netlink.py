#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Does the header of the netlink family say what its YAML specification says?

    netlink.py SPECIFICATION HEADER

Prints each difference; succeeds, and prints nothing, when there is none. The names are those that the kernel's own
generator would make, and the values those that it would give.
"""
import re
import sys

import yaml

TYPES = {'pad', 'string', 'binary', 'u8', 'u16', 'u32', 'u64'}


def c_name(*parts):
    return '_'.join(parts).upper().replace('-', '_')


def entry_name(entry):
    return entry if isinstance(entry, str) else entry['name']


def wanted(spec):
    """Constants of the specification: name -> value."""
    family, names = spec['name'], {}
    for definition in spec['definitions']:
        # another header has it
        if 'header' not in definition:
            for value, entry in enumerate(definition['entries']):
                names[c_name(family, definition['name'], entry_name(entry))] = value
    for space in spec['attribute-sets']:
        for value, attribute in enumerate(space['attributes'], 1):
            names[c_name(family, 'a', space['name'], attribute['name'])] = value
        names[c_name(family, 'a', space['name'], 'max')] = len(space['attributes'])
    for value, operation in enumerate(spec['operations']['list'], 1):
        names[c_name(family, 'cmd', operation['name'])] = value
    names[c_name(family, 'cmd', 'max')] = len(spec['operations']['list'])
    names[c_name(family, 'family', 'name')] = f'"{family}"'
    names[c_name(family, 'family', 'version')] = '1'
    for group in spec['mcast-groups']['list']:
        names[c_name(family, 'mcgrp', group['name'])] = f'"{group["name"]}"'
    return names


def defined(text):
    """Constants of the header: name -> value."""
    names = dict(re.findall(r'^#define\s+(\w+)[ \t]+(\S+)$', text, re.M))
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    for body in re.findall(r'enum\s*\w*\s*{(.*?)}', text, re.S):
        value = 0
        for item in filter(None, (item.strip() for item in body.split(','))):
            name, _, given = (part.strip() for part in item.partition('='))
            if given:
                value = names[given.strip('()').split()[0]] - 1 if '-' in given else int(given, 0)
            names[name] = value
            value += 1
    return {name: value for name, value in names.items() if not name.startswith('_')}


def inconsistent(spec):
    """What is wrong within the specification."""
    enums = {definition['name'] for definition in spec['definitions']}
    spaces = {space['name']: {a['name'] for a in space['attributes']} for space in spec['attribute-sets']}
    groups = {group['name'] for group in spec['mcast-groups']['list']}
    for space in spec['attribute-sets']:
        for a in space['attributes']:
            if a['type'] not in TYPES:
                yield f"{space['name']}: {a['name']}: unknown type {a['type']}"
            if a['type'] != 'pad' and not a.get('doc'):
                yield f"{space['name']}: {a['name']}: no doc"
            if a.get('enum', entry_name(spec['definitions'][0])) not in enums:
                yield f"{space['name']}: {a['name']}: unknown enum {a['enum']}"
    for operation in spec['operations']['list']:
        where = operation['name']
        messages = [operation.get('event', {})]
        for kind in ('do', 'dump'):
            messages += operation.get(kind, {}).values()
        used = {name for message in messages for name in message.get('attributes', [])}
        if operation['attribute-set'] not in spaces:
            yield f"{where}: unknown set {operation['attribute-set']}"
        elif used - spaces[operation['attribute-set']]:
            yield f"{where}: unknown attributes {used - spaces[operation['attribute-set']]}"
        if operation.get('mcgrp', next(iter(groups))) not in groups:
            yield f"{where}: unknown group"


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        spec = yaml.safe_load(file)
    with open(sys.argv[2], encoding='utf-8') as file:
        have = defined(file.read())
    want = wanted(spec)
    faults = list(inconsistent(spec))
    faults += [f'{name}: {want.get(name, "not in the specification")}, in the header {have.get(name, "missing")}'
               for name in sorted(want.keys() | have.keys()) if want.get(name) != have.get(name)]
    print('\n'.join(faults), end='\n' if faults else '')
    return bool(faults)


if __name__ == '__main__':
    sys.exit(main())
