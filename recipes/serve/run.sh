# in_use PORT..: ends the launch when something listens on one of them; it would be taken for ours.
in_use() {
  local port
  for port in "$@"; do
    if (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      say "port $port of this machine is in use already; end what listens there, or generate with another --port"
      exit 1
    fi
  done
}
