"""Hands off the records: what the guard stops, and what it leaves free."""

from __future__ import annotations

import os

import pytest

from onrecord import paths
from onrecord.hooks import guard
from tests import cost

STORE = "/p/.claude/memory"


def forbids(command: str = "", *, file: str = "", tool: str = "shell") -> bool:
    return guard.forbids("write" if file else tool, [file] if file else [], command, [STORE], "/p")


@pytest.mark.parametrize(
    "command",
    [
        "echo hi > .claude/memory/decisions/x.json",
        "echo hi >> /p/.claude/memory/decisions/x.json",
        "rm .claude/memory/index.md",
        "rm -rf .claude/memory",
        "sed -i s/a/b/ .claude/memory/decisions/x.json",
        "cd .claude/memory && rm decisions/x.json",
        'cd .claude/memory/decisions; python3 -c \'open("x.json","w")\'',
        "cat > .claude/memory/decisions/y.json <<EOF\n{}\nEOF",
        "jq .title x.json | tee .claude/memory/decisions/a.json",
        "for f in .claude/memory/*/*.json; do rm $f; done",
        "cp /tmp/x.json .claude/memory/decisions/",
        "mv .claude/memory/decisions/a.json /tmp/",
        "python3 - <<'E'\nopen('.claude/memory/x.json','w').write('a')\nE",
        "node -e \"require('fs').writeFileSync('.claude/memory/decisions/a.json', '{}')\"",
        "ls .claude/memory/*/*.json | xargs rm",
        "git rm .claude/memory/decisions/x.json",
        "find .claude/memory -name '*.json' -delete",
        "sudo touch .claude/memory/decisions/x.json",
        "sudo -u root rm .claude/memory/decisions/x.json",
        "timeout 5 rm .claude/memory/decisions/x.json",
        "/usr/bin/sudo rm .claude/memory/decisions/x.json",
        "install -oroot x .claude/memory/decisions/x.json",
        "cp -S.t x .claude/memory/decisions/x.json",
        "nice -n 5 rm .claude/memory/decisions/x.json",
        "ls .claude/memory/*/*.json | xargs -I{} rm {}",
        "ls .claude/memory/*/*.json | sudo xargs -n 1 rm",
        "ls # nothing\nrm .claude/memory/index.md",
        "echo a#b > .claude/memory/x.json",
        "rm .claude/mem\\ory/index.md; cat .claude/memory/index.md",
    ],
)
def test_a_shell_command_that_writes_records_is_stopped(command):
    assert forbids(command)


@pytest.mark.parametrize(
    "command",
    [
        "cat .claude/memory/decisions/x.json",
        "grep -rn 'rm -rf' .claude/memory | head -5",
        "grep foo .claude/memory/index.md > /tmp/out",
        "cp .claude/memory/decisions/x.json /tmp/",
        "git add .claude/memory && git commit -m 'memory: rm > old'",
        "git diff -- .claude/memory 2>/dev/null",
        "git checkout main -- .claude/memory",
        "jq . .claude/memory/decisions/*.json",
        "sed -n 1,20p .claude/memory/index.md",
        "ls -la .claude/memory 2>&1",
        "for f in .claude/memory/*/*.json; do cat $f; done",
        'onrecord save decision --json <<\'EOF\'\n{"title": "see .claude/memory > rm x"}\nEOF',
        "cat a.json | onrecord save decision --json",
        "rm -rf build && cat .claude/memory/index.md",
        "echo '{}' > .claude/memory/memory-config.json",
        "python3 -c \"import json; print(json.load(open('.claude/memory/decisions/a.json')))\"",
        "rm -rf node_modules",
        "echo 'unterminated",
        "echo '; rm .claude/memory/index.md'",
        "ls .claude/memory # && rm -rf .claude/memory",
        'cat ".claude/memory/\\"odd\\" name.json"',
    ],
)
def test_reading_the_store_and_everything_else_stays_free(command):
    assert not forbids(command)


@pytest.mark.parametrize(
    "opening",
    [
        "<<EOF",
        "<< EOF",
        "<<'EOF'",
        '<<"EOF"',
        "<<-EOF",
        "<<- 'EOF'",
        "<<EOF | sort",
        "<<EOF|sort",
        "<<'EOF' | sort",
        "<<EOF>x",
        "<<\\EOF",
        "<<EOF; ls",
    ],
)
def test_a_here_document_is_read_and_not_run_and_ends_at_its_line(opening):
    document = f"cat {opening}\nrm .claude/memory/index.md\necho x > .claude/memory/a.json\n\tEOF"

    assert not forbids(document)
    assert forbids(f"{document}\nrm .claude/memory/index.md")
    assert forbids(f"rm .claude/memory/index.md\n{document}")
    assert not forbids(f"{document}\ncat .claude/memory/index.md")


@pytest.mark.parametrize(
    "line",
    ["cat <<< 'EOF'", "cat <<<EOF", "cat <<", "cat <<-", "cat << -", "echo 'a << b'", "echo $((1<<3))", "cat << ;"],
)
def test_what_opens_no_here_document_hides_nothing(line):
    assert forbids(f"{line}\nrm .claude/memory/index.md\nEOF")
    assert not forbids(f"{line}\ncat .claude/memory/index.md\nEOF")


def test_two_here_documents_in_a_row_each_end_for_themselves():
    free = "cat <<A\nrm .claude/memory/x\nA\ncat <<'B C'\nA\nrm .claude/memory/x\nB C"

    assert not forbids(free)
    assert forbids(f"{free}\nrm .claude/memory/x")


@pytest.mark.parametrize(
    "command",
    [
        "find {} -delete", "find {} -exec rm x +", "find {} -execdir rm x +", "fd . {} -x rm", "git mv {}/a.json /tmp",
        "sed --in-place s/a/b/ {}/a.json", "awk -i inplace 1 {}/a.json", "gawk -i inplace 1 {}/a.json",
        "xargs rm < {}", "pushd {} && rm a.json", "cd {} && echo x > a.json", "echo x 2>{}/a.json",
        "echo x &> {}/a.json",
        "echo x >| {}/a.json", "cp a.json {}/decisions", "rsync a.json {}/", "ln -s /tmp/a {}/a.json",
        "ls {} | xargs cp x", "sh -c 'echo x > {}/a.json'", "bash <<E\necho x > {}/a.json\nE",
        "sed -Ei s/a/b/ {}/a.json", "sed -ni.bak 1p {}/a.json", "cp -t {}/decisions a.json",
        "cp -rt {}/decisions a.json",
        "cp --target-directory={}/decisions a.json", "install -m 644 --target-directory {} a.json",
    ],
)  # fmt: skip
def test_every_usual_way_to_write_a_file_is_stopped_in_the_store_alone(command):
    assert forbids(command.format(".claude/memory"))
    assert not forbids(command.format("build"))


@pytest.mark.parametrize(
    "command",
    [
        "find {} -name x", "fd . {}", "git log -- {}", "git add {}", "sed -n 1p {}/a.json", "awk 1 {}/a.json",
        "cd {} && ls", "cd {} && cat a.json > /tmp/a.json", "cat < {}/a.json", "cp {}/a.json /tmp",
        "sh -c 'cat {}/a.json'", "cp", "cd", "sed -nE 1p {}/a.json", "rsync -t {}/a.json /tmp", "cp -t /tmp {}/a.json",
        "awk -vi=1 1 {}/a.json",
    ],
)  # fmt: skip
def test_every_usual_way_to_read_a_file_is_free_in_the_store(command):
    assert not forbids(command.format(".claude/memory"))


@pytest.mark.parametrize("command", ["rm {}", "echo x > {}", "mv {} /tmp"])
def test_a_record_whose_id_ends_like_the_config_is_no_config(command):
    assert forbids(command.format(".claude/memory/decisions/our-memory-config.json"))
    assert forbids(command.format(".claude/memory/decisions/memory-config.json"))
    assert not forbids(command.format(".claude/memory/memory-config.json"))


def test_a_command_in_the_store_may_write_outside_of_it():
    def forbids_in_store(command: str) -> bool:
        return guard.forbids("bash", [], command, [STORE], f"{STORE}/decisions")

    assert forbids_in_store("echo x > a.json")
    assert forbids_in_store("rm a.json")
    assert not forbids_in_store("echo x > /tmp/a.json")
    assert not forbids_in_store("cat a.json")
    assert not forbids_in_store("cp /tmp/x ../memory-config.json")
    assert forbids_in_store("cp /tmp/x ./memory-config.json")
    assert not guard.forbids("bash", [], "cp /tmp/x ./memory-config.json", [STORE], STORE)
    assert guard.forbids("bash", [], "cp /tmp/x decisions/memory-config.json", [STORE], STORE)
    assert guard.forbids("bash", [], "rm $FILE", [STORE], STORE)


def test_a_home_folder_may_be_spelt_in_every_way(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ann")
    store = "/home/ann/work/.notes"

    for spelling in ("/home/ann/work/.notes", "~/work/.notes", "$HOME/work/.notes"):
        assert guard.forbids("bash", [], f"rm {spelling}/a.json", [store], "/tmp")
    assert not guard.forbids("bash", [], "rm /home/bob/elsewhere/.notes/a.json", [store], "/tmp")


@pytest.mark.parametrize("program", ["python", "python3.12", "/usr/bin/perl5.36", "ruby", "node", "bash", "python.exe"])
def test_an_interpreter_may_read_records_but_its_code_may_not_write_them(program):
    assert forbids(f"{program} -c 'f.write()' .claude/memory/decisions/x.json")
    assert not forbids(f"{program} -c 'f.read()' .claude/memory/decisions/x.json")
    assert not forbids(f"{program} -m onrecord update x --hash 'write' .claude/memory/decisions/x.json")


def test_a_program_is_no_interpreter_because_its_name_begins_like_one():
    assert forbids("shred .claude/memory/decisions/x.json")
    assert not forbids("shasum .claude/memory/decisions/x.json > /tmp/sums; mv a b")


def test_powershell_paths_have_backslashes():
    assert forbids(tool="powershell", command="Set-Content .claude\\memory\\decisions\\x.json '{}'")
    assert not forbids(tool="powershell", command="Get-Content .claude\\memory\\decisions\\x.json")


LONG = {
    "one quoted word": lambda n: f"cat '{'x' * n}' .claude/memory/index.md",
    "escaped quotes": lambda n: 'cat "' + '\\"' * (n // 2) + '" .claude/memory/index.md',
    "backslashes": lambda n: "cat " + "\\x" * (n // 2) + " .claude/memory/index.md",
    "pieces of one word": lambda n: "cat " + "a'b'" * (n // 4) + " .claude/memory/index.md",
    "words": lambda n: "cat " + "a " * (n // 2) + " .claude/memory/index.md",
    "wrappers": lambda n: "sudo " * (n // 5) + "cat .claude/memory/index.md",
    "commands": lambda n: "sh x;" * (n // 5) + "cat .claude/memory/index.md",
    "redirections": lambda n: "cat .claude/memory/index.md" + " 2>x" * (n // 4),
    "comments": lambda n: "#\n" * (n // 2) + "cat .claude/memory/index.md",
    "comments and a document": lambda n: "#\n" * (n // 2) + "cat .claude/memory/index.md <<E\nE\n",
    "an open quote": lambda n: "cat .claude/memory/index.md '" + '"' * n,
    "documents": lambda n: "cat .claude/memory/index.md" + "<<E\nE\n" * (n // 6),
}


@pytest.mark.heavy
@pytest.mark.parametrize("shape", list(LONG))
def test_a_long_command_costs_in_proportion_to_its_length(shape):
    """Eight times the length at most 24 times the CPU time, where quadratic is 64; a megabyte is cut."""
    short, long, cut, huge = map(LONG[shape], (10_000, 80_000, 100_000, 1_000_000))

    assert not any(map(forbids, (short, long, cut, huge)))
    cost.assert_at_most(24, lambda: forbids(short), lambda: forbids(long))
    cost.assert_at_most(4, lambda: forbids(cut), lambda: forbids(huge), least=0.01)


def test_a_file_tool_may_not_write_a_record():
    assert forbids(file="/p/.claude/memory/decisions/a.json")
    assert forbids(file=".claude/memory/decisions/a.json")
    assert forbids(file="/p/src/../.claude/memory/index.md")


def test_a_projects_config_may_be_edited():
    assert not forbids(file="/p/.claude/memory/memory-config.json")


@pytest.mark.parametrize("name", ["memory-config.json", "trusted.json", "remotes.json"])
def test_the_users_own_settings_are_not_edited_by_hand(name):
    user = paths.user_store()
    file = os.path.join(user, name)

    assert guard.forbids("write", [file], "", ["/p/.claude/memory", user], "/p")
    assert guard.forbids("bash", [], f"echo '{{}}' > {file}", ["/p/.claude/memory", user], "/p")


def test_files_beside_the_store_are_free():
    assert not forbids(file="/p/src/memory.py")
    assert not forbids(file="/p/.claude/memory-notes.md")


def test_a_link_into_the_store_is_followed(tmp_path):
    store = tmp_path / ".claude" / "memory"
    (store / "decisions").mkdir(parents=True)
    os.symlink(store, tmp_path / "shortcut")

    file = str(tmp_path / "shortcut" / "decisions" / "a.json")

    assert guard.forbids("write", [file], "", [str(store)], str(tmp_path))


def test_one_file_of_many_is_enough():
    assert guard.forbids("write", ["/p/src/a.py", "/p/.claude/memory/index.md"], "", [STORE], "/p")


def test_a_tool_call_that_names_nothing_is_none_of_our_business():
    assert not guard.forbids("shell", [], "", [STORE], "/p")
    assert not guard.forbids("write", [], "", [STORE], "/p")


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_a_store_is_the_same_under_another_case_where_the_system_says_so(platform, monkeypatch):
    command = "echo {} > .Claude/MEMORY/decisions/x.json"
    assert not forbids(command)

    monkeypatch.setattr("sys.platform", platform)

    assert forbids(command)


def broken(tmp_path, names):
    """Return a store with files that are no records."""
    folder = tmp_path / ".claude" / "memory" / "decisions"
    folder.mkdir(parents=True)
    for seconds, name in enumerate(names, 1_000_000):
        (folder / f"{name}.json").write_text("{}")
        os.utime(folder / f"{name}.json", (seconds, seconds))
    return str(folder.parent)


def test_files_that_a_command_may_have_written_are_those_of_two_minutes(tmp_path):
    root = broken(tmp_path, ["a"])
    sentence = "decisions/a.json cannot be read as a record; to see why: onrecord doctor."

    assert guard.check_written(root, now=1_000_119.5) == [sentence]
    assert guard.check_written(root, now=1_000_120.5) == []


def test_the_newest_twenty_files_are_checked(tmp_path):
    root = broken(tmp_path, [f"record-{number}" for number in range(21)])

    sentences = guard.check_written(root, now=1_000_030.0)

    assert [sentence.split(".json")[0] for sentence in sentences] == [
        f"decisions/record-{number}" for number in range(20, 0, -1)
    ]


def test_the_reason_that_quotes_a_file_is_cut(tmp_path):
    root = broken(tmp_path, ["a"])
    path = os.path.join(root, "decisions", "a.json")
    with open(path, "w") as file:
        file.write('{"' + "k" * 500 + '": 1}')

    (sentence,) = guard.check_written(root, path)

    assert len(sentence.partition(" (")[0]) <= 300
    assert guard.check_written(root, str(tmp_path / "elsewhere.json")) == []
